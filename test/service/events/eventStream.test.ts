import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { people } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { openStream, type Stream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

describe('the stream of events', () => {
  const service = useService();
  const open: Stream[] = [];
  before(async () => {
    await people(service);
  });
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });

  const stream = async (query = '', options: Parameters<typeof openStream>[2] = {}): Promise<Stream> => {
    const opened = await openStream(service.url, query, options);
    open.push(opened);
    return opened;
  };
  const group = async (name: string) => (await service.ask('POST', '/authorization/groups', { name })).body.data._id;
  const topics = ({ frames }: Stream) => frames.map(({ event }) => event);
  const lastPosition = async () => {
    const { headers } = await service.ask('POST', '/authorization/groups', { name: `g${Math.random()}` });
    return Number(headers.get('x-event-position'));
  };

  it('tells what happens from now on, each event in one frame', async () => {
    const { frames, headers, status } = await stream();
    const id = await group('first');
    await until(() => frames.length > 0);
    const [{ data, ...frame } = {}] = frames;
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.deepEqual([headers['content-encoding'], headers['content-length']], [undefined, undefined]);
    assert.deepEqual(frame, { id: String(data.position), event: '@platform/authorization:groupCreated' });
    assert.match(data.id, /^[0-9a-f-]{36}$/);
    assert.match(data.at, /^\d{4}-.*Z$/);
    assert.deepEqual(data.resource, { kind: 'group', id });
    assert.deepEqual(
      [data.source, data.topic, data.revision, data.actor.username, data.data.name],
      ['@platform/authorization', 'groupCreated', 0, 'admin', 'first'],
    );
    assert.equal(data.correlation, data.causation);
    assert.deepEqual(Object.keys(data).sort(), [
      ...['actor', 'at', 'causation', 'correlation', 'data', 'id'],
      ...['position', 'resource', 'revision', 'source', 'topic'],
    ]);
  });

  it('begins at the start, or after a position; the header wins', async () => {
    await group('second');
    const whole = await stream('?from=start');
    await until(() => topics(whole).filter((topic) => topic?.endsWith(':groupCreated')).length > 4);
    const positions = whole.frames.map(({ id }) => Number(id));
    assert.deepEqual(
      positions,
      [...positions].sort((a, b) => a - b),
    );
    assert.ok(topics(whole).includes('@platform/authorization:accountCreated'));
    const third = positions[2]!;
    for (const asked of [
      stream(`?from=${third}`),
      stream('?from=now', { headers: { 'Last-Event-ID': String(third) } }),
    ]) {
      const after = await asked;
      await until(() => after.frames.length >= positions.length - 3);
      assert.deepEqual(after.frames, whole.frames.slice(3, 3 + after.frames.length));
    }
  });

  it('refuses other places to begin, and unknown or repeated filters', async () => {
    const at = await lastPosition();
    for (const [query, path] of [
      [`?from=${at + 1}`, 'from'],
      ['?from=-1', 'from'],
      ['?from=1.5', 'from'],
      ['?from=yesterday', 'from'],
      ['?source=a&source=b', 'source'],
      ['?topics=a', 'topics'],
      ['?resource=nothing', 'resource'],
      ['?resource=nothing/x', 'resource'],
      ['?resource=jobs', 'resource'],
      ['?resource=job/', 'resource'],
      ['?resource=/x', 'resource'],
      ['?resource=triggerRuns', 'resource'],
      ['?resource=name/x', 'resource'],
    ] as const) {
      const { status, body } = await service.ask('GET', `/operations-manager/events/stream${query}`);
      assert.deepEqual([status, body.metadata.errors[0].path], [400, path], query);
    }
    for (const header of [String(at + 1), 'x']) {
      const { status, body } = await service.ask('GET', '/operations-manager/events/stream', undefined, {
        'Last-Event-ID': header,
      });
      assert.deepEqual([status, body.metadata.errors[0].path], [400, 'Last-Event-ID']);
    }
    const jobs = await service.ask('GET', '/operations-manager/events/stream?resource=jobs');
    assert.match(jobs.body.message, /did you mean job\?/);
    for (const query of [`?from=${at}`, '?resource=job', '?resource=job/x', '?resource=publishedEvent'])
      assert.equal((await stream(query)).status, 200, query);
  });

  it('gives only what is asked for, exactly', async () => {
    const id = await group('third');
    const last = ({ frames }: Stream) => frames.some(({ data }) => data.data?.name === 'third');
    const bySource = await stream('?from=start&source=%40platform%2Fauthorization');
    const byTopic = await stream('?from=start&topic=groupCreated');
    const byBoth = await stream('?from=start&source=%40platform%2Fauthorization&topic=groupCreated');
    const byKind = await stream('?from=start&resource=group');
    for (const each of [bySource, byTopic, byBoth, byKind]) await until(() => last(each));
    assert.ok(bySource.frames.every(({ data }) => data.source === '@platform/authorization'));
    assert.ok(bySource.frames.some(({ data }) => data.topic === 'accountCreated'));
    for (const each of [byTopic, byBoth, byKind])
      assert.deepEqual(new Set(topics(each)), new Set(['@platform/authorization:groupCreated']));
    assert.deepEqual(byTopic.frames, byKind.frames);
    const one = await stream(`?from=start&resource=group/${id}`);
    const prefixes = await stream('?from=start&topic=group&source=%40platform');
    await service.ask('PATCH', `/authorization/groups/${id}`, { description: 'changed' });
    await until(() => one.frames.length === 2);
    assert.deepEqual(
      topics(one),
      ['groupCreated', 'groupUpdated'].map((topic) => `@platform/authorization:${topic}`),
    );
    assert.deepEqual(prefixes.frames, []);
  });

  it('masks secrets', async () => {
    const each = await stream('?from=start&topic=accountCreated');
    await until(() => each.frames.length > 0);
    assert.ok(each.frames.every(({ data }) => data.data.password === '********'));
  });

  it('answers HEAD without a stream, and who may not read with 403', async () => {
    const head = await stream('', { method: 'HEAD' });
    assert.equal(head.status, 200);
    await until(head.ended);
  });

  it('is not compressed, whatever the reader takes', async () => {
    const { headers, frames } = await stream('?from=start', { headers: { 'Accept-Encoding': 'br, gzip' } });
    assert.equal(headers['content-encoding'], undefined);
    await until(() => frames.length > 0);
  });

  it('shows its readers in the metrics', async () => {
    const readers = async () =>
      /^automation_platform_event_stream_readers (\d+)$/m.exec((await service.ask('GET', '/metrics')).text)?.[1];
    await until(async () => (await readers()) === '0');
    await stream();
    assert.equal(await readers(), '1');
  });

  it('ends when the account loses its rights, and only then', async () => {
    const { body } = await service.ask('GET', '/authorization/accounts/reader');
    const login = { user: 'reader', password: 'a long enough password' };
    const reading = await stream('', { login });
    await group('fourth');
    await until(() => reading.frames.length === 1);
    await service.ask('PATCH', '/authorization/accounts/reader', { memberOf: [] });
    await until(reading.ended);
    const { event, data } = reading.frames.at(-1)!;
    assert.equal(event, 'dropped');
    assert.deepEqual(data, { reason: 'rights', position: Number(reading.frames.at(-2)!.id) });
    assert.ok(body);
  });

  it('hides what the account may not see any more, and ends when the account is deleted', async () => {
    const password = 'a long enough password';
    const made = (path: string, body: unknown) => service.ask('POST', `/authorization/${path}`, body);
    const allowedMethods = [
      { provenance: 'operations-manager', name: 'streamEvents' },
      { provenance: 'authorization', name: 'getGroup' },
    ];
    await made('roles', { name: 'listens', allowedMethods });
    const account = { username: 'listener', password, assignedRoles: ['listens'] };
    const { _id } = (await made('accounts', account)).body.data;
    const reading = await stream('', { login: { user: 'listener', password } });
    await group('fifth');
    await until(() => reading.frames.length === 1);
    const narrowed = { allowedMethods: allowedMethods.slice(0, 1) };
    assert.equal((await service.ask('PATCH', '/authorization/roles/listens', narrowed)).status, 200);
    const hidden = await stream('?topic=groupCreated');
    await group('sixth');
    await until(() => hidden.frames.length === 1);
    assert.deepEqual([reading.frames.length, reading.ended()], [1, false]);
    assert.equal((await service.ask('PATCH', '/authorization/roles/listens', { allowedMethods })).status, 200);
    await group('seventh');
    await until(() => reading.frames.length === 2);
    assert.equal(reading.frames[1]?.data.data.name, 'seventh');
    assert.equal((await service.ask('DELETE', `/authorization/accounts/${_id}`)).status, 200);
    await until(reading.ended);
    const position = Number(reading.frames[1]?.id);
    assert.deepEqual(reading.frames.at(-1), { event: 'dropped', data: { reason: 'rights', position } });
  });

  it('has events of a trigger that lie in other streams, and other programs events only from streams of their own', async () => {
    const folder = temporaryFolder();
    let other = await startService({}, folder);
    const { _id: actionId } = (await other.ask('POST', '/operations-manager/automations', { name: 'a' })).body.data;
    const manual = { type: 'manual', name: 'm', enabled: true, actionType: 'automations', actionId, formId: null };
    const trigger = (await other.ask('POST', '/operations-manager/triggers', { ...manual, formData: {} })).body.data;
    assert.equal((await other.ask('POST', `/operations-manager/triggers/manual/${trigger._id}/run`)).status, 200);
    const soon = { type: 'schedule', name: 's', firstRunAt: Date.now(), processMissedRuns: 'last' };
    const timed = { ...manual, formData: {}, ...soon };
    const schedule = (await other.ask('POST', '/operations-manager/triggers', timed)).body.data;
    const ofSchedule = await openStream(other.url, `?from=start&resource=trigger/${schedule._id}`);
    for (const topic of ['scheduleFired', 'triggerRan'])
      await until(() => ofSchedule.frames.some(({ data }) => data.topic === topic), topic);
    for (const { data } of ofSchedule.frames) assert.deepEqual(data.resource, { kind: 'trigger', id: schedule._id });
    ofSchedule.close();
    await other.stop();
    const log = await openSqliteStore({ file: join(folder, 'events.db') });
    const about = { actor: { id: 'x', username: 'x', provenance: 'local' }, at: new Date(0).toISOString() };
    const names = ['orders-1', 'orders', 'digest-log', 'denied-2026-01-01', 'handedOut-2026-01-01', 'retirement-job'];
    // A stranger may write what looks like the platform's own.
    for (const type of ['shop:ordered', '@platform/operations-manager:jobStarted'])
      for (const name of [...names, `group-${type}`, `publishedEvent-${type}`]) {
        const event = { id: randomUUID(), type, data: '{"foreign":true}', metadata: JSON.stringify(about) };
        const revision = type === 'shop:ordered' || name.endsWith(type) ? -1 : 0;
        await log.append(name, revision, [event]);
      }
    await log.close();
    other = await startService({}, folder);
    const reading = await openStream(other.url, '?from=start');
    assert.equal((await other.ask('POST', '/authorization/groups', { name: 'the last' })).status, 200);
    await until(() => reading.frames.some(({ data }) => data.data.name === 'the last'));
    const foreign = reading.frames.filter(({ data }) => data.data.foreign);
    assert.deepEqual(
      foreign.map(({ data: { source, resource } }) => [source, resource]),
      [
        ['shop', null],
        ['shop', null],
        ['shop', { kind: 'publishedEvent', id: 'shop:ordered' }],
      ],
    );
    const ran = reading.frames.filter(({ event }) => event?.endsWith(':triggerRan'));
    assert.deepEqual(new Set(ran.map(({ data }) => data.resource.id)), new Set([trigger._id, schedule._id]));
    const ofTrigger = await openStream(other.url, `?from=start&resource=trigger/${trigger._id}`);
    await until(() => ofTrigger.frames.length === 2);
    assert.deepEqual(
      ofTrigger.frames.map(({ data }) => data.topic),
      ['triggerCreated', 'triggerRan'],
    );
    for (const each of [reading, ofTrigger]) each.close();
    await other.stop();
    rmSync(folder, { recursive: true });
  });

  it('goes over TLS as well', async () => {
    const folder = temporaryFolder();
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const made = await generate([{ name: 'commonName', value: '127.0.0.1' }], { keyType: 'ec' });
    writeFileSync(certFile, made.cert);
    writeFileSync(keyFile, made.private);
    const other = await startService({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
    const reading = await openStream(other.url, '?from=start');
    await until(() => reading.frames.length > 3);
    assert.equal(reading.frames[0]!.event?.startsWith('@platform/'), true);
    reading.close();
    await other.stop();
    rmSync(folder, { recursive: true });
  });

  it('says that it ends when the service stops', async () => {
    const other = await startService();
    const reading = await openStream(other.url, '?from=start');
    await until(() => reading.frames.length > 3);
    await other.stop();
    await until(reading.ended);
    const { event, data } = reading.frames.at(-1)!;
    assert.equal(event, 'dropped');
    assert.deepEqual(data, { reason: 'stopping', position: Number(reading.frames.at(-2)!.id) });
  });

  it('tells events whose data lie in parts, whole', async () => {
    const live = await stream('?topic=templateCreated');
    const body = { name: 'large', template: 'x'.repeat(700_000), type: 'jinja2', group: 'g', command: '' };
    assert.equal((await service.ask('POST', '/template_builder/templates', body)).status, 200);
    const later = await stream('?from=start&topic=templateCreated');
    for (const { frames } of [live, later]) {
      await until(() => frames.length === 1);
      assert.equal(frames[0]!.data.data.template, body.template);
    }
  });

  it('hides what a source might forge', async () => {
    const source = 'a\nevent: dropped\ndata: {}\n\nid: 99999999';
    const reading = await stream('?topic=forged');
    const { status } = await service.ask('POST', `/operations-manager/events/${encodeURIComponent(source)}/forged`, {});
    await group('last');
    if (status === 200) {
      await until(() => reading.frames.length > 0);
      assert.equal(reading.frames[0]!.data.source, source);
      assert.ok(Number(reading.frames[0]!.id) < 99_999_999);
    } else assert.equal(status, 400);
  });
});
