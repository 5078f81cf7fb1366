import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { readConfig } from '../../../src/config.ts';
import { formsOf } from '../../../src/southbound/addresses.ts';
import { OutboundRefused, outbound, pinned } from '../../../src/southbound/outbound.ts';

const allow = (text?: string) => readConfig(text === undefined ? {} : { OUTBOUND_ALLOW: text }).OUTBOUND_ALLOW;
const names: Record<string, readonly string[]> = {
  'public.example': ['203.0.113.7'],
  'inside.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.1', '203.0.113.8'],
  'redis.example': ['198.51.100.6', '2001:db8::6'],
};
const resolve = async (host: string) =>
  (names[host] ?? assert.fail(host)).map((address) => ({ address, family: isIP(address) }));
const guard = (text?: string) =>
  outbound({
    allowed: allow(text),
    stores: ['redis.example', 'gone.example'],
    own: () => ['192.0.2.77', '2001:db8::77', 'fe80::77%eth0'],
    resolve: async (host) => (host === 'gone.example' ? Promise.reject(new Error('ENOTFOUND')) : resolve(host)),
  });
const passes = async (host: string, text?: string) => (await guard(text).addresses(host)).map(({ address }) => address);
const refuses = (host: string, text?: string) => assert.rejects(guard(text).addresses(host), OutboundRefused, host);

describe('Ways out', () => {
  it('lead to the world', async () => {
    for (const address of ['203.0.113.7', '10.0.0.1', '2001:db8::1', 'fd00::1', '::ffff:203.0.113.7'])
      assert.deepEqual(await passes(address), [address]);
    assert.deepEqual(await passes('public.example'), ['203.0.113.7']);
  });
  it('do not lead to loopback or link-local, however it is written', async () => {
    for (const address of [
      '127.0.0.1',
      '127.8.8.8',
      '0.0.0.0',
      '169.254.169.254',
      '::1',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'febf::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '0:0:0:0:0:ffff:a9fe:a9fe',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '::ffff:0:127.0.0.1',
    ])
      await refuses(address);
    await refuses('inside.example');
  });
  it('do not lead to the stores of the service', async () => {
    for (const address of ['198.51.100.6', '2001:db8:0::6', '::ffff:198.51.100.6', 'redis.example'])
      await refuses(address);
  });
  it('do not lead to this machine by any of its addresses', async () => {
    for (const address of ['192.0.2.77', '2001:DB8:0::77', '::ffff:192.0.2.77']) await refuses(address);
    assert.deepEqual(await passes('192.0.2.77', '192.0.2.77'), ['192.0.2.77']);
    for (const { address } of Object.values(networkInterfaces()).flatMap((some) => some ?? []))
      await assert.rejects(outbound({ allowed: allow(), stores: [] }).addresses(address), OutboundRefused, address);
  });
  it('do not lead to any of these through 6to4 or NAT64', async () => {
    const local64 = '64:ff9b:1:';
    const disguised = [
      '2002:7f00:1::',
      '2002:7f00:1::1',
      '2002:a9fe:a9fe::5',
      '2002:c000:24d::',
      '2002:c633:6406::',
      '64:ff9b::c000:24d',
      '64:ff9b::c633:6406',
      `${local64}:7f00:1`,
      `${local64}1:2:3:a9fe:a9fe`,
      `${local64}7f00:0:100::`,
      `${local64}7f:0:1::`,
      `${local64}a9:fe:a9fe::`,
      `${local64}0:7f:0:100:0`,
      `${local64}:c000:24d`,
    ];
    for (const address of disguised) await refuses(address);
    for (const address of ['2002:cb00:7107::1', '64:ff9b::cb00:7107', `${local64}:cb00:7107`])
      assert.deepEqual(await passes(address), [address]);
    assert.deepEqual(await passes('2002:7f00:1::', '127.0.0.1'), ['2002:7f00:1::']);
    assert.deepEqual(await passes(`${local64}:7f00:1`, '64:ff9b:1::/48'), [`${local64}:7f00:1`]);
    await refuses(`${local64}7f00:0:100:a9fe:a9fe`, '127.0.0.1');
  });
  it('take of a host those addresses that they may lead to', async () =>
    assert.deepEqual(await passes('mixed.example'), ['203.0.113.8']));
  it('lead where they are allowed to, by host, address or block', async () => {
    assert.deepEqual(await passes('inside.example', 'other.example, INSIDE.example'), ['127.0.0.1']);
    assert.deepEqual(await passes('127.0.0.1', '127.0.0.1'), ['127.0.0.1']);
    assert.deepEqual(await passes('::ffff:127.0.0.1', '127.0.0.0/8'), ['::ffff:127.0.0.1']);
    assert.deepEqual(await passes('fe80::1%eth0', 'fe80::/16'), ['fe80::1%eth0']);
    assert.deepEqual(await passes('198.51.100.6', '198.51.100.6'), ['198.51.100.6']);
    await refuses('127.0.0.2', '127.0.0.1, inside.example');
    await refuses('127.0.0.1', 'inside.example');
  });
  it('resolve what only looks like a name: decimal, octal, hexadecimal', async () => {
    for (const host of ['2130706433', '0177.0.0.1', '0x7f.1', 'localhost', '127.1'])
      await assert.rejects(
        outbound({ allowed: allow(), stores: [] }).addresses(host),
        (error) => error instanceof OutboundRefused || (error as NodeJS.ErrnoException).code === 'ENOTFOUND',
        host,
      );
  });
  it('are pinned to what was checked, whatever the name means later', () => {
    const seen: unknown[] = [];
    const lookup = pinned([{ address: '203.0.113.8', family: 4 }]);
    lookup('rebound.example', { all: true }, (...answer) => seen.push(answer));
    lookup('rebound.example', {}, (...answer) => seen.push(answer));
    assert.deepEqual(seen, [
      [null, [{ address: '203.0.113.8', family: 4 }]],
      [null, '203.0.113.8', 4],
    ]);
  });
  it('have settings that are checked', () => {
    for (const wrong of ['127.0.0.1/33', '10.0.0.0/x', '1.2.3.4.5', 'a b', 'http://x'])
      assert.throws(() => allow(wrong), /OUTBOUND_ALLOW is not an address or CIDR block/, wrong);
    assert.deepEqual([...allow('a.example,localhost').hosts], ['a.example', 'localhost']);
  });
  it('know what an address stands for', () => {
    const forms: Readonly<Record<string, readonly string[]>> = {
      '1.2.3.4': ['1.2.3.4'],
      '2001:DB8:0:0::1%eth0': ['2001:db8:0:0:0:0:0:1'],
      '::1': ['0:0:0:0:0:0:0:1', '0.0.0.1'],
      '::ffff:1.2.3.4': ['0:0:0:0:0:ffff:102:304', '1.2.3.4'],
      '2002:102:304::': ['2002:102:304:0:0:0:0:0', '1.2.3.4'],
    };
    for (const [address, stands] of Object.entries(forms)) assert.deepEqual(formsOf(address), stands, address);
  });
});
