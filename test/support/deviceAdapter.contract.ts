import assert from 'node:assert/strict';
import { RequestError } from '../../src/domain/engine/requestError.ts';
import type { Device, DeviceAdapter } from '../../src/southbound/port.ts';

/** An adapter with a device that takes `interface Loopback7` and refuses `gibberish here`. */
export type AdapterUnderTest = { readonly adapter: DeviceAdapter; readonly device: Device };

/** That the work is refused as `adapter_failed` for the reason, with the adapter's name. */
export const fails = (work: Promise<unknown>, reason: RegExp): Promise<void> =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof RequestError, String((error as Error).stack));
    assert.deepEqual([error.code, (error.metadata.adapter as { name: string }).name], ['adapter_failed', 'tested']);
    assert.match(error.message, reason);
    return true;
  });

const never = new AbortController().signal;

/** What every adapter (called `tested`) does. */
export const deviceAdapterContract = (open: () => Promise<AdapterUnderTest>): void => {
  let adapter: DeviceAdapter;
  let device: Device;
  before(async () => {
    ({ adapter, device } = await open());
  });

  it('applies a configuration, and shows it', async () => {
    const { status, text } = await adapter.apply(
      device,
      'interface Loopback7\n description Made by the test\n',
      {},
      never,
    );
    assert.equal(status, 200, text);
    JSON.parse(text);
    const config = await adapter.configuration(device, never);
    assert.match(config, /interface Loopback7\n description Made by the test/);
    assert.doesNotMatch(config, /#|show running-config/, 'neither prompt nor echo');
  });

  it('answers what the device refuses, with a status that is no success', async () => {
    const { status, text } = await adapter.apply(device, 'gibberish here\n', {}, never);
    assert.ok(status >= 400 && status < 500, text);
    assert.match(text, /gibberish here/);
    assert.doesNotMatch(await adapter.configuration(device, never), /gibberish/);
  });

  it('prints what the device prints, also of commands that it does not know', async () => {
    assert.match(await adapter.run(device, 'show version', never), /Version \d/);
    assert.match(await adapter.run(device, 'show me the way', never), /% Invalid input/);
  });

  it('serves many calls at once', async () => {
    const printed = await Promise.all(Array.from({ length: 8 }, () => adapter.run(device, 'show version', never)));
    assert.equal(new Set(printed).size, 1);
  });

  it('ends as soon as its signal says so', async () => {
    await assert.rejects(
      adapter.apply(device, 'interface Loopback8\n', {}, AbortSignal.abort(new DOMException('over', 'TimeoutError'))),
    );
    assert.doesNotMatch(await adapter.configuration(device, never), /Loopback8/);
  });
};
