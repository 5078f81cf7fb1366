import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from '../../../src/store/event.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { positionOf } from '../../support/hostile.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

const path = '/operations-manager/triggers';
const hour = 3_600_000;
const midnight = Date.UTC(2030, 0, 7);
const empty = { type: 'repeating', components: [{ action: 'wait' }] };
const workdays = {
  type: 'repeating',
  components: [
    { action: 'execute', count: 5, duration: { unit: 'day', quantity: 1 } },
    { action: 'wait', duration: { unit: 'day', quantity: 2 } },
  ],
};

describe('Schedules over HTTP', () => {
  let folder: string;
  let service: TestService;
  let who: People;
  let actionId: string;
  let closed: string;
  const common = () => ({
    name: 'Hourly',
    type: 'schedule',
    enabled: true,
    actionType: 'automations',
    actionId,
    formData: null,
    formId: null,
    firstRunAt: midnight,
    processMissedRuns: 'last',
  });
  /** As an earlier version has stored it. */
  const stored = (id: string, name: string, repeat: object) =>
    encode(
      { stream: `trigger-${id}`, revision: 0, id: randomUUID(), source: '@platform/operations-manager' },
      {
        topic: 'triggerCreated',
        data: { ...common(), name, repeat, repeatInterval: null, formSchemaHash: null, legacyWrapper: true },
      },
      {
        $correlationId: 'r',
        $causationId: 'r',
        at: '2026-01-01T00:00:00.000Z',
        actor: { id: 'a'.repeat(24), username: 'somebody', provenance: 'local' },
        operation: 'createTrigger',
        requestId: 'r',
        schemaVersion: 1,
      },
      '',
    );
  const [bad, good] = ['1'.repeat(24), '2'.repeat(24)];
  const fault = {
    path: '/repeat',
    message: 'A node makes more than one pass only if its pass takes time',
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    service = await startService({}, folder);
    const automation = async (body: object): Promise<string> =>
      ok(await service.ask('POST', '/operations-manager/automations', body)).data._id;
    actionId = await automation({ name: 'Open' });
    await service.stop();
    const log = await openSqliteStore({ file: join(folder, 'events.db') });
    await log.append(`trigger-${bad}`, -1, [stored(bad, 'Empty', empty)]);
    await log.append(`trigger-${good}`, -1, [stored(good, 'Workdays', workdays)]);
    await log.close();
    service = await startService({}, folder);
    who = await people(service);
    closed = await automation({ name: 'Closed', gbac: { write: ['ops'] } });
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const instants = (answer: Parameters<typeof ok>[0]): readonly number[] => {
    const { message, data, metadata } = ok(answer);
    assert.deepEqual([message, metadata], ['Successfully retrieved instants', {}]);
    for (const one of data) assert.deepEqual([Object.keys(one), one.state], [['at', 'state'], 'next']);
    return data.map(({ at }: { at: number }) => at);
  };
  const preview = (query: string, schedule: object) =>
    service.ask('POST', `${path}/preview${query}`, { schedule: { firstRunAt: midnight, ...schedule } });

  it('are previewed by id and by name: ten instants from now on, or as many as are asked for', async () => {
    const made = ok(
      await service.ask('POST', path, { ...common(), repeatUnit: 'second', repeatFrequency: 3600, enabled: false }),
    ).data;
    assert.equal(made.repeatInterval, hour);
    const first = Array.from({ length: 10 }, (_, i) => midnight + i * hour);
    assert.deepEqual(instants(await service.ask('GET', `${path}/${made._id}/preview`)), first);
    assert.deepEqual(
      instants(await service.ask('GET', `${path}/Hourly/preview?count=2&after=${midnight}`)),
      first.slice(1, 3),
    );
    assert.equal(instants(await service.ask('GET', `${path}/Hourly/preview?count=1000`)).length, 1000);
    assert.deepEqual(instants(await service.ask('GET', `${path}/Hourly/preview?count=1&after=-1`)), [midnight]);
    const past = await service.ask('GET', `${path}/Hourly/preview?count=1&after=8640000000000000`);
    assert.deepEqual(instants(past), []);
  });

  it('are previewed without a trigger', async () => {
    assert.deepEqual(instants(await preview('', {})), [midnight]);
    assert.deepEqual(
      instants(await preview('?count=6', { repeat: workdays, processMissedRuns: 'none' })).map((at) =>
        new Date(at).getUTCDate(),
      ),
      [7, 8, 9, 10, 11, 14],
    );
    const since1970 = { firstRunAt: 0, repeatInterval: 1000 };
    assert.deepEqual(instants(await preview(`?count=2&after=${midnight}`, since1970)), [
      midnight + 1000,
      midnight + 2000,
    ]);
    const first = instants(await preview('?count=1', since1970))[0]!;
    assert.ok(first > Date.now() - 60_000, 'from now on');
  });

  it('are not previewed where no trigger could have them: the path says where', async () => {
    const refuse = async (schedule: object, about: RegExp) => refused(await preview('', schedule), 400, about);
    await refuse({ repeat: empty }, /"\/schedule\/repeat"/);
    await refuse({ repeat: { components: [{}, { count: 0 }] } }, /"\/schedule\/repeat\/components\/1"/);
    await refuse({ repeat: workdays, repeatInterval: hour }, /"\/schedule\/repeat"/);
    await refuse({ repeatInterval: 999 }, /"\/schedule\/repeatInterval"/);
    await refuse({ repeatUnit: 'fortnight', repeatFrequency: 1 }, /"\/schedule\/repeatUnit"/);
    await refuse({ repeatUnit: 'day' }, /"\/schedule\/repeatFrequency"/);
    await refuse({ firstRunAt: 1.5 }, /"\/schedule\/firstRunAt"/);
    await refuse({ enabled: true }, /"\/schedule\/enabled"/);
    await refuse({ processMissedRuns: 'all' }, /"\/schedule\/processMissedRuns"/);
    refused(await service.ask('POST', `${path}/preview`, {}), 400, /"\/schedule"/);
    for (const query of ['count=0', 'count=1001', 'count=1.5', 'count=x'])
      refused(await preview(`?${query}`, {}), 400, /"count"/);
    for (const query of ['after=x', 'after=1.5', 'after=8640000000000001'])
      refused(await preview(`?${query}`, {}), 400, /"after"/);
    refused(await preview('?before=1', {}), 400, /"before"/);
  });

  it('are previewed by readers who may see the trigger; what is no schedule has no instants', async () => {
    const hidden = ok(await service.ask('POST', path, { ...common(), name: 'Hidden', actionId: closed })).data._id;
    assert.equal(instants(await who.member('GET', `${path}/${hidden}/preview`)).length, 1);
    refused(await who.reader('GET', `${path}/${hidden}/preview`), 404);
    assert.equal(instants(await who.reader('GET', `${path}/${good}/preview`)).length, 10);
    assert.equal(
      instants(await who.reader('POST', `${path}/preview`, { schedule: { firstRunAt: midnight } })).length,
      1,
    );
    refused(await who.outsider('GET', `${path}/${good}/preview`), 403);
    refused(await service.ask('GET', `${path}/${'f'.repeat(24)}/preview`), 404);
    const { firstRunAt: _, processMissedRuns: __, ...manual } = { ...common(), name: 'Manual', type: 'manual' };
    ok(await service.ask('POST', path, manual));
    refused(await service.ask('GET', `${path}/Manual/preview`), 409, /only a schedule/);
  });

  it('are refused on save, with the path of the node', async () => {
    const save = (more: object) => service.ask('POST', path, { ...common(), name: 'Refused', ...more });
    refused(await save({ repeat: empty }), 400, /"\/repeat"/);
    refused(await save({ repeat: { components: [{ action: 'execute' }, { count: -1 }] } }), 400, /"\/repeat\/.*\/1"/);
    refused(await save({ repeat: { action: 'execute', count: 2 ** 53 } }), 400, /"\/repeat/);
    refused(await save({ repeatInterval: 1 }), 400, /"\/repeatInterval"/);
    const fine = ok(await save({ repeatInterval: 1000, fault })).data;
    assert.equal('fault' in fine, false, 'a fault that a copy brings along counts for nothing');
    refused(await service.ask('PATCH', `${path}/${fine._id}`, { repeatInterval: 999 }), 400, /"\/repeatInterval"/);
    refused(await service.ask('PATCH', `${path}/${fine._id}`, { fault }), 400, /"\/fault"/);
    const { _id: ____, ...copy } = fine;
    const imported = { ...copy, _id: '3'.repeat(24), name: 'Imported', repeatInterval: null, repeat: empty };
    refused(await service.ask('PUT', path, { triggers: [imported] }), 400, /"\/triggers\/0\/repeat"/);
    const foreign = (more: object) =>
      service.ask('PUT', path, { triggers: [{ ...imported, repeat: null, ...more }], overwrite: true });
    refused(await foreign({ repeatUnit: 'fortnight', repeatFrequency: 1 }), 400, /"\/triggers\/0\/repeatUnit"/);
    refused(await foreign({ repeatUnit: 'day', repeatFrequency: '1' }), 400, /"\/triggers\/0\/repeatFrequency"/);
    refused(await foreign({ repeatInterval: 0 }), 400, /"\/triggers\/0\/repeatInterval"/);
    const fortnight = { repeatUnit: 'fortnight', repeatFrequency: 1, repeatInterval: 336 * hour };
    assert.equal(ok(await foreign(fortnight)).data[0].data.repeatInterval, 336 * hour, 'the interval says it');
    const once = { repeatUnit: 'day', repeatFrequency: null, repeatInterval: null };
    assert.equal(ok(await foreign(once)).data[0].data.repeatInterval, null);
    const automation = {
      _id: '4'.repeat(24),
      name: 'Imported',
      description: '',
      componentType: null,
      componentName: null,
      gbac: {},
      triggers: [{ ...imported, actionId: '4'.repeat(24) }],
    };
    refused(
      await service.ask('PUT', '/operations-manager/automations', { automations: [automation] }),
      400,
      /"\/automations\/0\/triggers\/0\/repeat"/,
    );
  });

  it('that an earlier version has stored say what is wrong with them', async () => {
    const shown = ok(await service.ask('GET', `${path}/${bad}`)).data;
    assert.deepEqual([shown.fault, shown.nextRunAt, shown.repeat], [fault, null, empty]);
    const listed = ok(await service.ask('GET', `${path}?multiEquals[actionId]=${actionId}&limit=100`)).data;
    const faults = listed.map(({ _id, fault }: { _id: string; fault?: object }) => [_id, fault]);
    assert.deepEqual(
      faults.filter(([, fault]: [string, object?]) => fault),
      [[bad, fault]],
    );
    assert.equal('fault' in ok(await service.ask('GET', `${path}/${good}`)).data, false);
    assert.deepEqual(instants(await service.ask('GET', `${path}/${bad}/preview`)), []);
    const exported = ok(await service.ask('GET', `/operations-manager/automations/${actionId}/export`)).data;
    assert.deepEqual(
      exported.triggers.filter((one: object) => 'fault' in one),
      [],
    );
    assert.ok(exported.triggers.some(({ _id }: { _id: string }) => _id === bad));
  });

  it('that an earlier version has stored can change in other members, and are mended', async () => {
    const patch = (body: object) => service.ask('PATCH', `${path}/${bad}`, body);
    assert.deepEqual(ok(await patch({ enabled: false })).data.fault, fault);
    refused(await patch({ firstRunAt: midnight + 1 }), 400, /"\/repeat"/);
    const position = await positionOf(service);
    const mended = ok(await patch({ repeat: workdays })).data;
    assert.equal('fault' in mended, false);
    assert.equal(instants(await service.ask('GET', `${path}/${bad}/preview`)).length, 10);
    const restoring = { kind: 'trigger', id: bad, position };
    refused(await service.ask('POST', '/audit/restore', restoring), 400, /"\/repeat"/);
    assert.equal('fault' in ok(await service.ask('GET', `${path}/${bad}`)).data, false);
  });
});
