import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mayHaveParts } from '../../../src/events/ownStreams.ts';
import { encode } from '../../../src/store/event.ts';
import { type EventStoreDb, openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { slimmed, withPayloads } from '../../../src/store/payloads.ts';
import { type NewEvent, TamperedStream } from '../../../src/store/port.ts';
import { auditKey } from '../../support/auditKey.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { openFileLog } from '../../support/node.ts';
import { ok, refused } from '../../support/people.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { startService, type TestService } from '../../support/service.ts';
import { touchedStore } from '../../support/tamperedStore.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';

const about = {
  $correlationId: 'r',
  $causationId: 'r',
  at: '2026-01-01T00:00:00.000Z',
  operation: 'test',
  requestId: 'r',
  schemaVersion: 1,
  actor: { id: 'a'.repeat(24), username: 'stranger', provenance: 'local' },
};

const event = (stream: string, type: string, data: unknown): NewEvent => {
  const colon = type.lastIndexOf(':');
  return encode(
    { stream, revision: 0, id: randomUUID(), source: type.slice(0, colon) },
    { topic: type.slice(colon + 1), data },
    about,
    '',
  );
};

const imported = '@platform/operations-manager:automationImported';

const import_ = (_id: string, name: string) => ({
  automation: {
    _id,
    name,
    description: '',
    componentType: null,
    componentName: null,
    gbac: { read: [], write: [] },
    created: about.at,
    createdBy: null,
    lastUpdated: about.at,
    lastUpdatedBy: null,
  },
  triggers: [],
  removed: [],
  overwrite: false,
});

describe('a log that others write to', () => {
  let server: Awaited<ReturnType<typeof scriptedEventStore>>;
  let stranger: EventStoreDb;
  let service: TestService;
  before(async () => {
    server = await scriptedEventStore(memoryEventStore().handlers);
    stranger = await openEventStoreDb({ url: server.url, log: () => undefined });
    // What is there before the first start, too.
    await stranger.append('evil-1', -1, [event('evil-1', imported, import_('1'.repeat(24), 'From before'))]);
    service = await startService({
      EVENTSTORE_URL: server.url,
      SECRET_KEY: 'the same on every node',
      AUDIT_KEY: auditKey,
    });
  });
  after(async () => {
    await service.stop();
    await stranger.close();
    server.stop();
  });

  const automations = async (): Promise<string[]> =>
    ok(await service.ask('GET', `${om}/automations`)).data.map(({ name }: { name: string }) => name);
  const misplaced = async () => ok(await service.ask('GET', '/health/status')).eventStore.misplaced;

  it('makes nobody an admin of the platform: what is in streams of theirs has no consequences', async () => {
    await stranger.append('evil-2', -1, [event('evil-2', imported, import_('2'.repeat(24), 'Evil'))]);
    // A stream of the platform, but none that this topic belongs to.
    await stranger.append('serviceGroup-x', -1, [
      event('serviceGroup-x', imported, import_('3'.repeat(24), 'Evil, too')),
    ]);
    await stranger.append('evil-3', -1, [
      event('evil-3', '@platform/authorization:accountCreated', { username: 'evil' }),
    ]);
    const head = await stranger.head();
    await until(async () => (await misplaced()).events === 3);
    assert.deepEqual((await misplaced()).streams, ['evil-2', 'serviceGroup-x', 'evil-3']);
    const document = { ...import_('4'.repeat(24), 'Good').automation, triggers: [] };
    ok(await service.ask('PUT', `${om}/automations`, { automations: [document] }));
    await until(async () => ((await stranger.checkpoint('reactions')) ?? 0) > head);
    assert.deepEqual(await automations(), ['Good']);
    assert.equal(ok(await service.ask('GET', '/health/status')).status, 'up');
    assert.match((await service.ask('GET', '/metrics')).text, /^automation_platform_misplaced_events_total 3$/m);
    assert.match(
      (await service.ask('GET', '/metrics')).text,
      /^automation_platform_events_total\{area="operations-manager",topic="automationImported"\} 1$/m,
    );
    assert.equal(service.lines.filter((line) => line.includes('"evil-2"')).length, 1);
  });

  it('may hold what looks like a name of parts: it is not looked for', async () => {
    const reference = { $payload: { sha256: 'ab'.repeat(32), parts: 1 } };
    await stranger.append('evil-4', -1, [event('evil-4', imported, reference)]);
    await stranger.append('tool-1', -1, [event('tool-1', 'tool:done', reference)]);
    ok(await service.ask('PATCH', '/group-mappings/ldap/noc', { updates: { platformGroups: ['after'] } }));
    assert.deepEqual(ok(await service.ask('GET', '/group-mappings')).results[0].platformGroups, ['after']);
    refused(await service.ask('GET', `${om}/automations/Evil`), 404);
  });
});

describe('parts of large facts', () => {
  const reference = { $payload: { sha256: 'ab'.repeat(32), parts: 1 } };
  let log: Awaited<ReturnType<typeof openFileLog>>;
  beforeEach(async () => {
    log = await openFileLog();
  });
  afterEach(() => log.close());

  it('are looked for only where the platform writes', async () => {
    const asked: string[] = [];
    const reading = {
      ...log.store,
      read: (stream: string, from?: number) => {
        asked.push(stream);
        return log.store.read(stream, from);
      },
    };
    const cases: readonly (readonly [string, string, boolean])[] = [
      ['evil-1', imported, false],
      ['evil-2', 'tool:done', false],
      ['automation-1', 'tool:done', false],
      ['automation-2', '@platform/operations-manager:automationCreated', true],
      ['publishedEvent-1', 'tool:done', true],
    ];
    for (const [stream, type] of cases) await log.store.append(stream, -1, [event(stream, type, reference)]);
    const lacking: (readonly [string, boolean])[] = [];
    for await (const { events } of withPayloads(reading, mayHaveParts).readAll(0))
      for (const one of events)
        if (!one.stream.startsWith('log-')) lacking.push([one.stream, one.incomplete !== undefined]);
    assert.deepEqual(
      lacking,
      cases.map(([stream, , own]) => [stream, own]),
    );
    assert.equal(asked.length, 2);
  });

  it('are not named by a change where somebody else has cut what was stored before', async () => {
    const touching = touchedStore(log.store);
    const fact = { text: 'long '.repeat(200_000) };
    const source = '@platform/operations-manager';
    const [reference] = (await slimmed(touching.store, source, [fact])) as [{ $payload: { sha256: string } }];
    assert.deepEqual(await slimmed(touching.store, source, [fact]), [reference]);
    const stream = `payload-${reference.$payload.sha256}`;
    for (const touch of [() => touching.cut(stream, 1), () => touching.remove(stream)]) {
      touch();
      await assert.rejects(slimmed(touching.store, source, [fact]), { name: 'TamperedStream', stream });
    }
  });

  it('whose stream somebody else has touched are missing, and keep nobody from reading on', async () => {
    const touched = {
      ...log.store,
      read: async function* (stream: string, from?: number) {
        if (stream.startsWith('payload-')) throw new TamperedStream(stream, 'was deleted');
        yield* log.store.read(stream, from);
      },
    };
    const created = '@platform/operations-manager:automationCreated';
    await log.store.append('automation-1', -1, [event('automation-1', created, reference)]);
    await log.store.append('automation-2', -1, [event('automation-2', created, { name: 'whole' })]);
    const found: (string | undefined)[] = [];
    for await (const { events } of withPayloads(touched, mayHaveParts).readAll(0))
      for (const { incomplete: lacking } of events) found.push(lacking);
    assert.deepEqual(found.slice(-2), [
      `has content in payload-${'ab'.repeat(32)} that is missing or damaged`,
      undefined,
    ]);
  });
});
