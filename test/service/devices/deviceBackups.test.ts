import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtInOf } from '../../support/builtIn.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const manager = '/configuration_manager';

/** A controller whose devices have these configurations; a device without one fails. */
const controllerOf = async (configs: Map<string, string>) => {
  const server = createServer((request, response) => {
    const config = configs.get((request.url ?? '').split('/')[2] ?? '');
    response.writeHead(config === undefined ? 500 : 200, { 'Content-Type': 'application/json' });
    response.end(config === undefined ? '{}' : JSON.stringify({ config }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

describe('Copies of configurations', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1', BACKUPS_PER_DEVICE: '3' });
  const who = usePeople(service);
  const jobs = builtInOf((...args) => service.ask(...args));
  const configs = new Map<string, string>();
  let controller: Awaited<ReturnType<typeof controllerOf>>;
  const names = ['edge-1', 'edge-2', 'edge-3', 'dead-1', 'blank-1'];
  before(async () => {
    controller = await controllerOf(configs);
    const properties = { baseUrl: controller.url };
    const devices = names.map((name) => ({ name, ostype: 'cisco-ios' }));
    ok(await service.ask('POST', `${manager}/adapters`, { name: 'wan', type: 'http', properties, devices }));
    const attributes = { host: '192.0.2.7', protocol: 'http', baseUrl: controller.url, ostype: 'cisco-ios' };
    const hidden = { name: 'Hidden', groups: ['ops'], devices: [{ name: 'vault-1', attributes }] };
    ok(await service.ask('POST', '/inventory_manager/v1/inventories', hidden));
  });
  after(() => controller.close());

  const backUp = (body: object, headers = {}) => service.ask('POST', `${manager}/devices/backups`, body, headers);
  const copyOf = async (name: string, config: string, options?: object): Promise<string> => {
    configs.set(name, config);
    return ok(await backUp({ name, ...(options && { options }) })).id;
  };
  const get = async (id: string) => service.ask('GET', `${manager}/backups/${id}`);
  const search = async (options: object, ask = service.ask) => ok(await ask('POST', `${manager}/backups`, { options }));
  const eventsOf = async (topic: string, id?: string) =>
    ok(await service.ask('GET', `/audit/events?topic=${topic}${id ? `&resource=configurationBackup/${id}` : ''}`))
      .results;
  const changesOf = async (device: string) =>
    (await eventsOf('configurationChanged'))
      .map(({ data }: { data: { device: string } }) => data)
      .filter((data: { device: string }) => data.device === device);

  it('keep what a device shows, sealed, and give it back in clear to operators alone, which is recorded', async () => {
    const config = 'hostname edge-1\nenable secret 5 $1$abcd$0123456789\n';
    const id = await copyOf('edge-1', config, { description: 'Before', notes: 'n' });
    const { rawConfig, date, ...copy } = ok(await get(id));
    assert.equal(rawConfig, config);
    const about = { name: 'edge-1', provider: 'wan', type: 'native', description: 'Before', notes: 'n', lines: 2 };
    assert.deepEqual(copy, { _id: id, ...about });
    assert.ok(Math.abs(Date.parse(date) - Date.now()) < 60_000);
    const [event] = await eventsOf('configurationBackedUp', id);
    assert.ok(!JSON.stringify(event).includes('0123456789'));
    refused(await who.reader('GET', `${manager}/backups/${id}`), 403);
    const [listed] = (await search({ filter: { description: 'Bef' } }, who.reader)).list;
    assert.deepEqual(listed, { ...about, _id: id, date });
    ok(await service.ask('PUT', `${manager}/backups/${id}`, { notes: 'kept' }));
    assert.deepEqual([ok(await get(id)).notes, ok(await get(id)).description], ['kept', 'Before']);
  });

  it('hold equal texts once, others as they differ, and say when more differs than what always changes', async () => {
    const lines = Array.from({ length: 2000 }, (_, i) => `interface Vlan${i}\n description port ${i * 7919}`);
    const text = (clock: number, more = '') => `ntp clock-period ${clock}\n${lines.join('\n')}\n${more}`;
    const first = await copyOf('edge-2', text(1));
    const same = await copyOf('edge-2', text(1));
    const ticked = await copyOf('edge-2', text(2));
    assert.deepEqual(await changesOf('edge-2'), []);
    const changed = await copyOf('edge-2', text(3, 'banner motd x\n'));
    assert.deepEqual(await changesOf('edge-2'), [{ device: 'edge-2', from: ticked, to: changed }]);
    for (const [id, expected] of [
      [first, text(1)],
      [same, text(1)],
      [ticked, text(2)],
      [changed, text(3, 'banner motd x\n')],
    ] as const)
      assert.equal(ok(await get(id)).rawConfig, expected);
    const [whole] = await eventsOf('configurationBackedUp', first);
    const [repeated] = await eventsOf('configurationBackedUp', same);
    const [following] = await eventsOf('configurationBackedUp', changed);
    assert.deepEqual([repeated.data.sameAs, repeated.data.text, repeated.data.repeats], [first, undefined, true]);
    assert.deepEqual([whole.data.after, following.data.after], [undefined, { copy: ticked, steps: 2 }]);
  });

  it('leave the read models when enough newer ones differ, and stay in the log', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await copyOf('edge-3', `hostname edge-3\nvlan ${i}\n`));
    const { list, total } = await search({ filter: { name: '^edge-3$' } });
    assert.deepEqual([total, list.map(({ _id }: { _id: string }) => _id)], [3, ids.slice(2).reverse()]);
    assert.equal((await get(ids[0] as string)).status, 404);
    assert.equal(ok(await get(ids[4] as string)).rawConfig, 'hostname edge-3\nvlan 4\n');
    const moment = ok(await get(ids[3] as string)).date;
    const at = await service.ask('GET', `${manager}/backups?device=edge-3&at=${moment}`);
    assert.equal(ok(at)._id, ids[3]);
    assert.equal(ok(await service.ask('GET', `${manager}/backups?device=edge-3`))._id, ids[4]);
    const early = await service.ask('GET', `${manager}/backups?device=edge-3&at=2000-01-01T00:00:00Z`);
    assert.equal(early.status, 404);
  });

  it('are refused where a device fails or shows nothing: nothing is stored', async () => {
    configs.set('blank-1', ' \n');
    const { total } = await search({});
    for (const name of ['dead-1', 'blank-1']) assert.equal((await backUp({ name })).status, 502);
    assert.equal((await backUp({ name: 'nobody' })).status, 404);
    assert.equal((await backUp({})).status, 400);
    assert.equal((await search({})).total, total);
  });

  it('are made once for one Idempotency-Key', async () => {
    configs.set('edge-1', 'hostname edge-1\nonce\n');
    const headers = { 'Idempotency-Key': 'copy-once' };
    const first = ok(await backUp({ name: 'edge-1' }, headers));
    configs.set('edge-1', 'hostname edge-1\ntwice\n');
    assert.deepEqual(ok(await backUp({ name: 'edge-1' }, headers)), first);
    assert.equal(ok(await get(first.id)).rawConfig, 'hostname edge-1\nonce\n');
  });

  it('of many devices are a job, which names what failed', async () => {
    for (const name of names) configs.set(name, `hostname ${name}\n`);
    configs.delete('dead-1');
    const group = { name: 'Edges', devices: ['edge-2', 'edge-3', 'nobody'] };
    ok(await service.ask('POST', `${manager}/devicegroup`, group));
    const request = { devices: ['edge-1', 'dead-1'], deviceGroups: ['Edges', 'gone'], options: { notes: 'nightly' } };
    const { jobId } = ok(await backUp(request));
    const { status, variables } = await jobs.inState(jobId, 'complete', 'error');
    assert.deepEqual([status, variables.totals], ['complete', { copied: 3, failed: 3 }]);
    const sorted = (rows: { device: string }[]) => rows.map(({ device }) => device).sort();
    assert.deepEqual(sorted(variables.failed), ['dead-1', 'gone', 'nobody']);
    assert.deepEqual(sorted(variables.backups), ['edge-1', 'edge-2', 'edge-3']);
    for (const { id, device } of variables.backups) {
      const { name, notes, rawConfig } = ok(await get(id));
      assert.deepEqual([name, notes, rawConfig], [device, 'nightly', `hostname ${device}\n`]);
    }
  });

  it('are found by expressions, whole values and pages, and deleted all or none', async () => {
    const one = await copyOf('edge-1', 'a\n', { description: 'x[1] first' });
    const two = await copyOf('edge-1', 'b\n', { description: 'x[2] second' });
    const ids = async (options: object) => (await search(options)).list.map(({ _id }: { _id: string }) => _id);
    assert.deepEqual(await ids({ filter: { description: '^x\\[\\d\\]' } }), [two, one]);
    assert.deepEqual(await ids({ filter: { description: '^x\\[\\d\\]' }, start: '1', limit: 1 }), [one]);
    assert.deepEqual(await ids({ filter: { description: '^x' }, sort: { date: 1 } }), [one, two]);
    assert.deepEqual(await ids({ filter: { description: 'x[1]' }, regex: false }), []);
    assert.deepEqual(await ids({ filter: { description: 'x[1] first' }, regex: false }), [one]);
    const bad = await service.ask('POST', `${manager}/backups`, { options: { filter: { name: '(' } } });
    assert.deepEqual([bad.status, bad.body.metadata.errors[0].path], [400, '/options/filter/name']);
    const remove = (...backupIds: string[]) => service.ask('DELETE', `${manager}/backups`, { backupIds });
    assert.equal((await remove(one, 'none')).status, 404);
    ok(await get(one));
    assert.deepEqual(ok(await remove(one, one)), { status: 'success', deleted: 1 });
    assert.equal((await get(one)).status, 404);
    assert.equal(ok(await get(two)).rawConfig, 'b\n');
    assert.deepEqual(ok(await service.ask('DELETE', `${manager}/backups?backupIds=${two}`)).deleted, 1);
    assert.equal((await get(two)).status, 404);
  });

  it('are taken in as they were given out, once', async () => {
    const id = await copyOf('edge-2', 'hostname edge-2\ntaken\n');
    const backup = ok(await get(id));
    const take = (...backups: object[]) => service.ask('POST', `${manager}/import/backups`, { backups });
    assert.equal(ok(await take(backup)).data[0].data._id, id);
    assert.equal((await take({ ...backup, rawConfig: 'other' })).status, 409);
    assert.equal((await take({ name: 'nobody', rawConfig: 'x' })).status, 404);
    const older = { name: 'edge-2', rawConfig: 'old\n', date: '2001-01-01T00:00:00Z' };
    ok(await take(older));
    const at = await service.ask('GET', `${manager}/backups?device=edge-2&at=2002-01-01T00:00:00Z`);
    assert.deepEqual([ok(at).date, ok(await get(ok(at)._id)).rawConfig], ['2001-01-01T00:00:00.000Z', 'old\n']);
    assert.equal((await take({ ...older, date: '2999-01-01T00:00:00Z' })).status, 400);
  });

  it('are compared with one another and with their device; secrets stay masked', async () => {
    const one = await copyOf('edge-1', 'hostname edge-1\nsnmp-server community s3cret RO\nvlan 7\n');
    const two = await copyOf('edge-1', 'hostname edge-1\nsnmp-server community 0ther RO\nvlan 8\n');
    const diff = (body: object) =>
      service.ask('PUT', `${manager}/lookup_diff`, { id: one, collection: 'backups', ...body });
    const parts = ok(await diff({ nextId: two, nextCollection: 'backups', options: { type: 'line' } }));
    assert.deepEqual(parts, [
      [0, 'hostname edge-1\n'],
      [-1, 'snmp-server community ******** RO\nvlan 7\n'],
      [1, 'snmp-server community ******** RO\nvlan 8\n'],
    ]);
    const words = ok(await diff({ nextId: 'edge-1', nextCollection: 'devices' }));
    assert.deepEqual(words.slice(1, 3), [
      [-1, '********'],
      [1, '********'],
    ]);
    const texts = [-1, 1].map((side) =>
      words
        .filter(([of]: [number]) => of === 0 || of === side)
        .map(([, text]: [number, string]) => text)
        .join(''),
    );
    assert.deepEqual(
      texts,
      [7, 8].map((vlan) => `hostname edge-1\nsnmp-server community ******** RO\nvlan ${vlan}\n`),
    );
    for (const nextCollection of ['nodes', 'deviceGroups'])
      assert.equal((await diff({ nextId: two, nextCollection })).status, 422);
    assert.equal((await diff({ nextId: 'none', nextCollection: 'backups' })).status, 404);
    assert.deepEqual(ok(await diff({ nextId: one, nextCollection: 'backups' })).length, 1);
  });

  it('of binary texts are compared as any others', async () => {
    const texts = ['\0\u0001\u001b[2J\u0007 a\r\n\u{10FFFF}\n', '\0\0\u0001\u001b[2J\u0008 a\r\n\uFFFE\n'];
    const copies = texts.map((rawConfig) => ({ name: 'edge-2', rawConfig, description: 'binary' }));
    ok(await service.ask('POST', `${manager}/import/backups`, { backups: copies }));
    const { list } = await search({ filter: { description: 'binary' } });
    const [later, first] = list.map((copy: { readonly _id: string }) => copy._id);
    const of = async (id: string): Promise<string> => ok(await get(id)).rawConfig;
    assert.deepEqual([await of(first), await of(later)].sort(), [...texts].sort());
    for (const type of ['word', 'line', 'char']) {
      const body = { id: first, nextId: later, collection: 'backups', nextCollection: 'backups', options: { type } };
      const parts: readonly (readonly [number, string])[] = ok(
        await service.ask('PUT', `${manager}/lookup_diff`, body),
      );
      const side = (other: number): string => parts.flatMap(([kind, text]) => (kind === other ? [] : [text])).join('');
      assert.deepEqual([side(1), side(-1)], [await of(first), await of(later)], type);
    }
  });

  it('of devices of a hidden inventory are hidden', async () => {
    const id = await copyOf('vault-1', 'hostname vault-1\n');
    for (const ask of [who.stranger]) {
      assert.equal((await ask('GET', `${manager}/backups/${id}`)).status, 404);
      assert.equal((await ask('GET', `${manager}/backups?device=vault-1`)).status, 404);
      assert.equal((await search({ filter: { name: 'vault' } }, ask)).total, 0);
      assert.equal((await ask('PUT', `${manager}/backups/${id}`, { notes: 'x' })).status, 404);
      assert.equal((await ask('DELETE', `${manager}/backups`, { backupIds: [id] })).status, 404);
      const diff = { id, nextId: id, collection: 'backups', nextCollection: 'backups' };
      assert.equal((await ask('PUT', `${manager}/lookup_diff`, diff)).status, 404);
      assert.equal((await ask('POST', `${manager}/devices/backups`, { name: 'vault-1' })).status, 404);
    }
    ok(await get(id));
  });
});
