import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { type DeviceCopies, deviceCopies } from '../../../src/commands/configuration-manager/deviceBackups.ts';
import type { DeviceCopy } from '../../../src/domain/configuration-manager/deviceBackups.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { evaluateFollowing } from '../../../src/southbound/engines/differences.ts';
import type { FollowingText } from '../../../src/southbound/port.ts';
import { context } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';

/** A configuration of 200 interfaces; in each version 1 % of the lines differ from the version before. */
const texts = (count: number): readonly string[] => {
  const lines = Array.from({ length: 1000 }, (_, i) =>
    i % 5 === 0 ? `interface Ethernet${i / 5}` : ` description link ${(i * 7919) % 9973} to ${(i * 104_729) % 9967}`,
  );
  return Array.from({ length: count }, (_, version) => {
    for (let i = 0; version > 0 && i < 10; i++)
      lines[(version * 97 + i * 101) % 1000] = ` mtu ${1500 + ((version * 31 + i) % 7000)}`;
    return `${lines.join('\n')}\n`;
  });
};

type Follow = Parameters<typeof deviceCopies>[0]['follow'];

const found = { source: { kind: 'adapter', name: 'lab', id: 'lab' }, device: { name: 'edge-1' } } as const;

describe('Stored copies of configurations', function () {
  this.timeout(60_000);
  const { node, log } = nodesOnLog();

  const followHere: Follow = async (run) => {
    const outcome = evaluateFollowing(run);
    assert.ok('json' in outcome);
    return JSON.parse(outcome.json) as FollowingText;
  };
  const copiesOn = (on: TestNode, follow = followHere): DeviceCopies =>
    deviceCopies({ ...on, catchUp: on.settled, most: 1000, follow });
  const copyIn = async (on: TestNode, id: string): Promise<DeviceCopy> => {
    const [event] = await on.events(`configurationBackup-${id}`, 0, 0);
    return event?.data as DeviceCopy; // the first event of such a stream
  };
  const store = (copies: DeviceCopies, id: string, text: string) =>
    copies.store(
      { id, actor: context.actor, operation: 'test', requestId: 'r' },
      { found, text },
      { account: 'a', signal: new AbortController().signal },
    );

  it('take no more of the log than 1.2 times their compressed texts, and are all there', async () => {
    const on = await node();
    const copies = copiesOn(on);
    const [count, whole] = process.env.SOAK_ROUNDS ? [100, 13] : [33, 5];
    const all = texts(count);
    for (const [i, text] of all.entries()) await store(copies, `copy-${i}`, text);
    let bytes = 0;
    for await (const { events } of log.store.readAll(0)) {
      for (const { data, metadata } of events) bytes += Buffer.byteLength(data) + Buffer.byteLength(metadata);
      if (events.length === 0) break;
    }
    const compressed = all.reduce((sum, text) => sum + gzipSync(text).length, 0);
    assert.ok(bytes <= 1.2 * compressed, `${bytes} bytes for ${compressed}`);
    for (const [i, text] of all.entries()) assert.equal(await copies.textOf(`copy-${i}`), text);
    const steps = await Promise.all(all.map(async (_, i) => (await copyIn(on, `copy-${i}`)).after?.steps ?? 0));
    assert.equal(Math.max(...steps), 7);
    assert.equal(steps.filter((step) => step === 0).length, whole);
  });

  it('stay whole where the text differs too much, and where the difference takes too long', async () => {
    const on = await node();
    const slow = new RequestError('unprocessable', 'It takes longer than 1000 ms');
    const [first = '', second = ''] = texts(2);
    const other = 'hostname other\n';
    await store(copiesOn(on), 'first', first);
    await store(copiesOn(on), 'other', other);
    await store(copiesOn(on), 'back', second);
    await store(
      copiesOn(on, () => Promise.reject(slow)),
      'slow',
      `${second}end\n`,
    );
    for (const [id, text] of Object.entries({ first, other, back: second, slow: `${second}end\n` })) {
      assert.equal(await copiesOn(on).textOf(id), text);
      assert.equal((await copyIn(on, id)).after, undefined);
    }
  });

  it('are not stored while nobody can say how they follow: the caller tries again', async () => {
    const on = await node();
    const busy = new RequestError('limited', 'Too many differences at once');
    const [first = '', second = ''] = texts(2);
    await store(copiesOn(on), 'first', first);
    await assert.rejects(
      store(
        copiesOn(on, () => Promise.reject(busy)),
        'second',
        second,
      ),
      busy,
    );
    assert.equal(await copyIn(on, 'second'), undefined);
  });
});
