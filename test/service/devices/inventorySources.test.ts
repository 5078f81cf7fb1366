import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { syncInventory } from '../../../src/cli/commands/inventorySync.ts';
import { builtInOf } from '../../support/builtIn.ts';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { adminPassword } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

const area = '/inventory_manager/v1/inventories';
const token = 'a5f0c7d9e1b3';

type Answer = (request: IncomingMessage, response: ServerResponse, page: string) => void;

/** A server of devices, in pages as NetBox and Nautobot give them. `before` may answer in its place. */
const dcim = async () => {
  const asked: URL[] = [];
  let devices: readonly object[] = [];
  let before: ((url: URL, n: number) => Answer | undefined) | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    asked.push(url);
    const [offset, limit] = ['offset', 'limit'].map((name) => Number(url.searchParams.get(name)));
    const results = devices.slice(offset, offset! + Math.min(limit!, 100));
    const next = new URL(url);
    next.searchParams.set('offset', String(offset! + results.length));
    const isLast = offset! + results.length >= devices.length;
    const page = { count: devices.length, next: isLast ? null : next.href, previous: null, results };
    const other = before?.(url, asked.length);
    if (other) return other(request, response, JSON.stringify(page));
    const isKnown = request.headers.authorization === `Token ${token}` && url.pathname === '/api/dcim/devices/';
    response.writeHead(isKnown ? 200 : 403, { 'Content-Type': 'application/json' });
    response.end(isKnown ? JSON.stringify(page) : '{"detail":"Invalid token"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    has: (all: readonly object[], instead?: typeof before): void => {
      devices = all;
      before = instead;
      asked.length = 0;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const says =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

const device = (n: number, more: object = {}): object => ({
  id: n,
  display: `d${n}`,
  name: `d${n}`,
  primary_ip: { id: n, address: `192.0.2.${n % 250}/24` },
  platform: { slug: 'cisco_ios', name: 'Cisco IOS' },
  site: { slug: 'bonn' },
  role: { slug: 'access' },
  status: { value: 'active', label: 'Active' },
  tags: [{ name: 'Core', slug: 'core' }],
  custom_fields: { rack_unit: 7, owner: null, contacts: [{ name: 'ann' }] },
  ...more,
});

/** Groups each of which is in the one before. */
const chainOfGroups = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`g${n}`, { children: [`g${n + 1}`] }])));

describe('Sources of inventories', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const people = usePeople(service);
  const jobs = builtInOf((...args) => service.ask(...args));
  let server: Awaited<ReturnType<typeof dcim>>;
  before(async () => {
    server = await dcim();
  });
  after(() => server.close());

  const make = async (name: string, more: object = {}): Promise<string> =>
    ok(await service.ask('POST', area, { name, ...more })).result._id;
  const sync = (name: string, body: object = {}, ask = service.ask) =>
    ask('POST', `${area}/${encodeURIComponent(name)}/sync`, body);
  const synced = async (name: string, body: object = {}) => {
    const { jobId, ...answer } = ok(await sync(name, body));
    assert.equal(answer.status, 'Success');
    return jobs.inState(jobId, 'complete', 'error', 'incomplete');
  };
  const csv = (text: string) => ({ source: { type: 'csv', text } });
  const nodesOf = async (name: string): Promise<any[]> => {
    const all: any[] = [];
    for (let page = 1; ; page++) {
      const path = `${area}/${encodeURIComponent(name)}/nodes?page=${page}&pageSize=1000`;
      const { data, totalPages } = ok(await service.ask('GET', path)).result;
      all.push(...data);
      if (page >= totalPages) return all;
    }
  };
  const eventsOf = async (id: string): Promise<any[]> =>
    ok(await service.ask('GET', `/audit/events?limit=1000&resource=inventory/${id}`)).results;
  const netbox = (more: object = {}) => ({ type: 'netbox', url: server.url, token, ...more });

  it('read CSV with every quoting, and store the differences alone', async () => {
    const id = await make('Sheet');
    const text =
      '\uFEFFname,host,tags,"note ""x""",empty\r\n' +
      'a1,192.0.2.1,core; FRA ;,"one, two\r\nthree ""four""",\r\n' +
      '"b,1",192.0.2.2,,"",""\r\n' +
      '\r\n' +
      '__proto__,,x,1,\r\n' +
      '\'c\',192.0.2.4,," ",';
    const dry = await synced('Sheet', { ...csv(text), dryRun: true });
    assert.deepEqual(dry.variables, {
      dryRun: true,
      added: ['a1', 'b,1', '__proto__', "'c'"],
      changed: [],
      removed: [],
      leftOut: [],
      counts: { added: 4, changed: 0, removed: 0, leftOut: 0 },
    });
    assert.deepEqual(await nodesOf('Sheet'), []);
    const { status, variables } = await synced('Sheet', csv(text));
    assert.deepEqual([status, variables.counts.added], ['complete', 4]);
    const nodes = await nodesOf('Sheet');
    assert.deepEqual(
      nodes.map(({ name, attributes, tags }) => [name, attributes, tags]),
      [
        ["'c'", { host: '192.0.2.4', 'note "x"': ' ' }, []],
        ['__proto__', { 'note "x"': '1' }, ['x']],
        ['a1', { host: '192.0.2.1', 'note "x"': 'one, two\r\nthree "four"' }, ['core', 'fra']],
        ['b,1', { host: '192.0.2.2' }, []],
      ],
    );
    const count = (await eventsOf(id)).length;
    assert.deepEqual((await synced('Sheet', csv(text))).variables.counts, {
      added: 0,
      changed: 0,
      removed: 0,
      leftOut: 0,
    });
    assert.equal((await eventsOf(id)).length, count, 'the same again is no change');
    const later = text.replace('192.0.2.1,', '192.0.2.9,').replace('b,1', 'b,2');
    const { variables: changed } = await synced('Sheet', { source: { ...csv(later).source, mostRemoved: 25 } });
    assert.deepEqual([changed.added, changed.changed, changed.removed], [['b,2'], ['a1'], ['b,1']]);
    const texts = JSON.stringify(await eventsOf(id));
    assert.ok(!texts.includes('inventorySyncRequested'));
  });

  it('are refused with the place of the fault', async () => {
    await make('Wrong');
    const faults: readonly (readonly [source: object, path: RegExp])[] = [
      [{ type: 'csv' }, /"\/source\/text"/],
      [{ type: 'csv', text: 'host\n1' }, /"\/source\/text".*|.*column.*name/],
      [{ type: 'csv', text: 'name,name\na,b' }, /more than once/],
      [{ type: 'csv', text: 'name,host\na' }, /line 2/],
      [{ type: 'csv', text: 'name\n"a' }, /source\/text/],
      [{ type: 'csv', text: 'name,host\n,1' }, /Line 2/],
      [{ type: 'csv', text: 'name', url: 'https://x.example' }, /"\/source\/url"/],
      [{ type: 'ansible', text: 'all:\n  hosts: {}' }, /no JSON/],
      [{ type: 'ansible', text: 'a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]' }, /no JSON/],
      [{ type: 'ansible', text: '['.repeat(100_000) }, /no JSON/],
      [{ type: 'ansible', text: chainOfGroups(5000) }, /too many groups/],
      [{ type: 'ansible', text: '[]' }, /no object/],
      [{ type: 'ansible', text: '{"g":{"hosts":["a",1]}}' }, /\\"g\\"/],
      [{ type: 'ansible', text: '{"_meta":{"hostvars":{"a":1}}}' }, /\\"a\\"/],
      [{ type: 'netbox', token }, /"\/source\/url"/],
      [{ type: 'netbox', url: 'ftp://x', token }, /"\/source\/url"/],
      [{ type: 'netbox', url: 'https://a:b@x.example', token }, /"\/source\/url"/],
      [{ type: 'netbox', url: 'https://x.example', token: 'a\nb' }, /"\/source\/token"/],
      [{ type: 'netbox', url: 'https://x.example', token: '********' }, /"\/source\/token"/],
      [{ type: 'yaml', text: 'x' }, /type/],
      [{ type: 'csv', text: 'name\na', mostRemoved: 101 }, /mostRemoved/],
    ];
    const before = await positionOf(service);
    for (const [source, path] of faults) {
      refused(await sync('Wrong', { source }), 400, path);
      refused(await service.ask('PUT', `${area}/Wrong/source`, source), 400);
    }
    refused(await sync('Wrong', csv('x'.repeat(100 * 1024 * 1024))), 413, /too_large/);
    refused(await sync('Wrong'), 409, /no source/);
    refused(await sync('None', csv('name\na')), 404);
    refused(await people.reader('POST', `${area}/Wrong/sync`, csv('name\na')), 403);
    assert.equal(await positionOf(service), before);
  });

  it('take names, attributes and tags of every kind', async () => {
    await make('Odd');
    const names = ['..', 'a/b', 'a%2Fb', 'constructor', 'x'.repeat(256), 'ä ü', '😀'];
    const attributes = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`attribute ${n}`, `${n}`]));
    const tags = ['<script>', '"', "'", '%', '/', 'ß'];
    const hostvars = Object.fromEntries(
      names.map((name) => [name, name === '..' ? attributes : { ansible_host: 'x' }]),
    );
    const circle = Object.fromEntries(tags.map((tag, n) => [tag, { children: [tags.at(n - 1)] }]));
    const groups = { ...circle, [tags[0] ?? '']: { ...circle[tags[0] ?? ''], hosts: names } };
    const text = JSON.stringify({ _meta: { hostvars }, ...groups });
    const { status, variables, error } = await synced('Odd', { source: { type: 'ansible', text } });
    assert.deepEqual([status, variables.counts?.added], ['complete', names.length], JSON.stringify(error));
    const nodes = await nodesOf('Odd');
    assert.deepEqual(nodes.map(({ name }) => name).toSorted(), names.toSorted());
    for (const node of nodes) assert.deepEqual(node.tags.toSorted(), tags.toSorted(), node.name);
    const odd = ok(await service.ask('GET', `${area}/Odd/nodes/${encodeURIComponent('a/b')}`)).result;
    assert.equal(odd.name, 'a/b');
    assert.equal(Object.keys(nodes.find(({ name }) => name === '..').attributes).length, 2001);
    const wide = `name,${Object.keys(attributes).join()}\nn,${Object.values(attributes).join()}\n`;
    await make('Wide');
    await synced('Wide', csv(wide));
    assert.deepEqual((await nodesOf('Wide'))[0].attributes, attributes);
  }).timeout(60_000);

  it('that are empty, shrunken or name nodes that cannot be, change nothing', async () => {
    const id = await make('Kept', { devices: Array.from({ length: 10 }, (_, n) => ({ name: `n${n}` })) });
    const lines = (count: number) => `name\n${Array.from({ length: count }, (_, n) => `n${n}\n`).join('')}`;
    for (const [text, reason] of [
      ['name\n', /no nodes/],
      [lines(7), /3 of 10 nodes, more than 20 %/],
      [`${lines(10)}n1\n`, /more than once/],
      [`${lines(10)}${'x'.repeat(257)}\n`, /name or tags/],
      [`name,port\n${'n0,x\n'}`, /port/],
      ['name,tags\nn0,a\0b\n', /name or tags/],
    ] as const) {
      const { status, error } = await synced('Kept', csv(text));
      assert.equal(status, 'error', text);
      assert.match(JSON.stringify(error), reason);
      assert.equal((await synced('Kept', { ...csv(text), dryRun: true })).status, 'error');
    }
    assert.deepEqual(
      (await eventsOf(id)).map(({ topic }) => topic),
      ['nodesAdded', 'inventoryCreated'],
    );
    const { variables } = await synced('Kept', csv(lines(8)));
    assert.deepEqual(variables.removed, ['n8', 'n9']);
  });

  it('take 5,000 hosts of the real ansible-inventory, with their groups and the groups of these', async function () {
    const folder = temporaryFolder();
    try {
      const hosts = (from: number) =>
        Array.from({ length: 2500 }, (_, n) => `h${from + n} ansible_host=198.51.100.${n % 250} rack=r${n % 40}`);
      writeFileSync(
        join(folder, 'hosts'),
        `[fra]\n${hosts(0).join('\n')}\n[bonn]\n${hosts(2500).join('\n')}\n[sites:children]\nfra\nbonn\n` +
          '[sites:vars]\nansible_network_os=cisco.ios.ios\nansible_password=very secret\n[all:vars]\nntp=192.0.2.1\n',
      );
      let text: string;
      try {
        const args = ['-i', join(folder, 'hosts'), '--list'];
        text = (await promisify(execFile)('ansible-inventory', args, { maxBuffer: 64 * 1024 * 1024 })).stdout;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return this.skip();
        throw error;
      }
      const id = await make('Ansible');
      const { status, variables, error } = await synced('Ansible', { source: { type: 'ansible', text } });
      assert.equal(status, 'complete', JSON.stringify(error));
      assert.deepEqual([variables.counts.added, variables.added.length], [5000, 1000]);
      const nodes = await nodesOf('Ansible');
      assert.equal(nodes.length, 5000);
      const { attributes, tags } = nodes.find(({ name }) => name === 'h2501');
      assert.deepEqual(
        [attributes.ansible_host, attributes.rack, attributes.ntp, attributes.ansible_password, tags],
        ['198.51.100.1', 'r1', '192.0.2.1', '********', ['bonn', 'sites']],
      );
      const found = ok(
        await service.ask('POST', '/configuration_manager/devices', { options: { filter: { name: 'h2501' } } }),
      );
      assert.deepEqual([found.list[0].ostype, found.list[0].host], ['cisco.ios.ios', '198.51.100.1']);
      const added = (await eventsOf(id)).filter(({ topic }) => topic === 'nodesAdded');
      assert.equal(added.length, 5, 'an event holds 1,000 nodes');
      assert.deepEqual((await synced('Ansible', { source: { type: 'ansible', text } })).variables.counts.changed, 0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }).timeout(120_000);

  it('are read page by page from NetBox, and their token shows nowhere', async () => {
    const id = await make('Box');
    server.has([
      ...Array.from({ length: 250 }, (_, n) => device(n)),
      device(250, { name: null, display: 'Unnamed (250)' }),
    ]);
    const set = await service.ask('PUT', `${area}/Box/source`, netbox({ filters: { site: ['bonn', 'fra'], q: 'x' } }));
    const shown = { type: 'netbox', url: server.url, filters: { site: ['bonn', 'fra'], q: 'x' } };
    assert.deepEqual(ok(set).result.source, shown);
    const { status, variables, error } = await synced('Box');
    assert.equal(status, 'complete', JSON.stringify(error));
    assert.deepEqual(variables.counts, { added: 250, changed: 0, removed: 0, leftOut: 1 });
    assert.deepEqual(variables.leftOut, ['Unnamed (250)']);
    assert.equal(server.asked.length, 3);
    assert.deepEqual(server.asked[0]?.searchParams.getAll('site'), ['bonn', 'fra']);
    const [{ name, attributes, tags }] = await nodesOf('Box');
    assert.deepEqual(
      [name, attributes, tags],
      [
        'd0',
        {
          rack_unit: 7,
          contacts: [{ name: 'ann' }],
          host: '192.0.2.0',
          platform: 'cisco_ios',
          site: 'bonn',
          role: 'access',
          status: 'active',
        },
        ['core'],
      ],
    );
    const before = await positionOf(service);
    ok(await service.ask('PUT', `${area}/Box/source`, netbox({ token: '********', filters: shown.filters })));
    assert.equal(await positionOf(service), before, 'the mask keeps the token');
    const elsewhere = netbox({ token: '********', url: 'https://elsewhere.example' });
    refused(await service.ask('PUT', `${area}/Box/source`, elsewhere), 400, /token/);
    for (const path of [`${area}/Box`, area, `/audit/resources/inventory/${id}`, '/audit/events?limit=1000'])
      assert.ok(!(await service.ask('GET', path)).text.includes(token), path);
    server.has(Array.from({ length: 240 }, (_, n) => device(n, n === 3 ? { tags: [] } : {})));
    const again = await synced('Box', { dryRun: true });
    assert.deepEqual([again.variables.changed, again.variables.removed.length], [['d3'], 10]);
  });

  it('are read from Nautobot, whose answers name what belongs to a device at depth 1', async () => {
    await make('Naut');
    const one = {
      id: 'u1',
      name: 'n1',
      primary_ip4: { address: '203.0.113.5/31', display: '203.0.113.5/31' },
      platform: { name: 'Arista EOS', network_driver: 'arista_eos' },
      location: { name: 'Bonn' },
      role: { name: 'spine' },
      status: { name: 'Active' },
      tags: [{ name: 'Core' }],
      custom_fields: {},
    };
    server.has([one, { ...one, id: 'u2', name: 'n2', primary_ip4: null, platform: null }]);
    const { variables } = await synced('Naut', { source: netbox({ type: 'nautobot' }) });
    assert.equal(variables.counts.added, 2);
    assert.equal(server.asked[0]?.searchParams.get('depth'), '1');
    const [n1, n2] = await nodesOf('Naut');
    assert.deepEqual(n1.attributes, {
      host: '203.0.113.5',
      platform: 'arista_eos',
      site: 'Bonn',
      role: 'spine',
      status: 'Active',
    });
    assert.deepEqual([n2.attributes.host, n1.tags], [undefined, ['core']]);
  });

  it('wait where the server has too much to do', async () => {
    await make('Busy');
    let refusals = 0;
    server.has(
      Array.from({ length: 150 }, (_, n) => device(n)),
      (url) => {
        if (url.searchParams.get('offset') !== '100' || refusals === 3) return undefined;
        refusals++;
        return refusals === 1 ? says(429, {}, { 'Retry-After': '1' }) : says(refusals === 2 ? 503 : 502, {});
      },
    );
    const { status, variables } = await synced('Busy', { source: netbox() });
    assert.deepEqual([status, variables.counts.added, refusals], ['complete', 150, 3]);
  }).timeout(30_000);

  it('that break off, loop, lead away or answer what is no page change nothing', async () => {
    const id = await make('Firm');
    const all = Array.from({ length: 250 }, (_, n) => device(n));
    server.has(all.slice(0, 10));
    assert.equal((await synced('Firm', { source: netbox() })).status, 'complete');
    const count = (await eventsOf(id)).length;
    const second = (answer: Answer) => (_: URL, n: number) => (n === 2 ? answer : undefined);
    const changed =
      (change: (page: any, url: URL) => object): Answer =>
      (request, response, page) => {
        const url = new URL(request.url ?? '', server.url);
        response.end(JSON.stringify(change(JSON.parse(page), url)));
      };
    const scenes: readonly (readonly [title: string, answer: Answer, reason: RegExp])[] = [
      ['broken off', (_, response) => void response.socket?.destroy(), /connection/],
      [
        'broken off in the body',
        (_, response) => void response.write('{"count":', () => response.socket?.end()),
        /connection|JSON/,
      ],
      ['refused', says(403, {}), /status 403/],
      ['too busy for long', says(429, {}, { 'Retry-After': '86400' }), /status 429/],
      ['no JSON', (_, response) => void response.end('<html>'), /no JSON/],
      ['no page', says(200, { results: [] }), /no page/],
      ['a loop', changed((page, url) => ({ ...page, next: url.href })), /earlier/],
      ['another server', changed((page) => ({ ...page, next: 'http://169.254.169.254/latest/' })), /another server/],
      ['an empty page', changed((page) => ({ ...page, results: [] })), /empty/],
      ['fewer than it says', changed((page) => ({ ...page, next: null })), /250 devices, and gave 200/],
      ['a device that is none', changed((page) => ({ ...page, results: [1] })), /no object/],
      ['a redirect', says(302, {}, { Location: 'http://127.0.0.1:1/' }), /status 302/],
    ];
    for (const [title, answer, reason] of scenes) {
      server.has(all, second(answer));
      const { status, error } = await synced('Firm', { source: netbox() });
      assert.equal(status, 'error', title);
      assert.match(JSON.stringify(error), reason, title);
    }
    const { error } = await synced('Firm', { source: netbox({ url: 'http://127.0.0.2:9/' }) });
    assert.match(JSON.stringify(error), /OUTBOUND_ALLOW/);
    assert.equal((await eventsOf(id)).length, count);
  }).timeout(60_000);

  it('are nobody’s who does not see the inventory, and its job neither', async () => {
    await make('Vault', { groups: ['ops'] });
    const none = await sync('None', csv('name\na'), people.stranger);
    const hidden = await sync('Vault', csv('name\na'), people.stranger);
    assert.deepEqual([hidden.status, hidden.text.replaceAll('Vault', '*')], [404, none.text.replaceAll('None', '*')]);
    refused(await people.stranger('PUT', `${area}/Vault/source`, { type: 'csv', text: 'name\na' }), 404);
    const { jobId } = ok(await sync('Vault', csv('name\nsecret-1'), people.member));
    await jobs.inState(jobId, 'complete');
    refused(await people.stranger('GET', `/operations-manager/jobs/${jobId}`), 404);
    assert.deepEqual(ok(await people.member('GET', `/operations-manager/jobs/${jobId}`)).data.variables.added, [
      'secret-1',
    ]);
  });

  it('are started by automations, too', async () => {
    await make('Nightly');
    ok(await service.ask('PUT', `${area}/Nightly/source`, { type: 'csv', text: 'name\nn1\n' }));
    const id = await jobs.automation('inventory-sync', 'Nightly');
    assert.deepEqual((await jobs.inState(await jobs.start(id), 'complete', 'error')).variables.added, ['n1']);
  });

  it('are synced from the command line, which shows what differs', async () => {
    await make('Console');
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const errors = new PassThrough();
    const access = { url: service.url, auth: { username: 'admin', password: adminPassword } };
    const wanted = { inventory: 'Console', source: { type: 'csv' as const, text: 'name\nn1\nn2\n' } };
    const never = new AbortController().signal;
    await syncInventory({ ...wanted, dryRun: true }, access, never, { output, errors });
    await syncInventory({ ...wanted, dryRun: false }, access, never, { output, errors });
    const table = 'change   node\nadded    n1\nadded    n2\n';
    assert.equal(String(output.read()), table + table);
    const counts = 'added 2, changed 0, removed 0, leftOut 0\n';
    assert.equal(String(errors.read()), `Nothing has changed. It would be: ${counts}${counts}`);
    const empty = { inventory: 'Console', dryRun: false, source: { type: 'csv' as const, text: 'name\n' } };
    await assert.rejects(syncInventory(empty, access, never, { output, errors }), /no nodes/);
  });
});
