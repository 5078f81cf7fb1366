import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ANY, binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { auditKey } from '../../support/auditKey.ts';
import { ok, refused } from '../../support/people.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';
import { openStream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';

/** Where the log is, and how another program reaches it. */
type Place = { readonly settings: () => Record<string, string>; readonly url: (service: TestService) => string };

const embedded: Place = {
  settings: () => ({ ESDB_PORT: '0' }),
  url: ({ logUrl = '' }) => logUrl.replace('esdb://', `esdb://admin:${encodeURIComponent(adminPassword)}@`),
};
const real: Place = {
  settings: () => ({
    EVENTSTORE_URL: process.env.TEST_ESDB_URL ?? '',
    SECRET_KEY: 'the same on every node',
    AUDIT_KEY: auditKey,
  }),
  url: () => process.env.TEST_ESDB_URL ?? '',
};

const count = (name: string, place: Place): unknown =>
  describe(`events of other programs, over ${name}`, function () {
    this.timeout(120_000);
    // A server may hold what earlier runs have left there.
    const source = `shop:${randomUUID()}`;
    let service: TestService;
    let program: EventStoreDBClient;
    const connect = (): void => {
      program = EventStoreDBClient.connectionString(place.url(service));
    };
    const restart = async (more: Record<string, string> = {}): Promise<void> => {
      await program.dispose();
      service = await service.restart(more);
      connect();
    };
    before(async () => {
      service = await startService(place.settings());
      connect();
    });
    after(async () => {
      await program.dispose();
      await service.stop();
    });

    const append = async (event: ReturnType<typeof jsonEvent> | ReturnType<typeof binaryEvent>, stream = 'orders-1') =>
      Number((await program.appendToStream(stream, event, { expectedRevision: ANY })).position?.commit);
    const jobs = async (event: string): Promise<any[]> =>
      ok(await service.ask('GET', `${om}/jobs?limit=1000`)).data.filter((job: any) => job.event === event);
    const listed = async (topic: string) =>
      ok(
        await service.ask(
          'GET',
          `${om}/events?multiEquals[source]=${encodeURIComponent(source)}&multiEquals[topic]=${topic}`,
        ),
      ).data;
    const trigger = async (topic: string, more: object = {}): Promise<string> => {
      const actionId = ok(await service.ask('POST', `${om}/automations`, { name: randomUUID() })).data._id;
      const body = { type: 'eventSystem', enabled: true, actionType: 'automations', schema: null, jst: null, ...more };
      return ok(await service.ask('POST', `${om}/triggers`, { name: randomUUID(), actionId, source, topic, ...body }))
        .data._id;
    };

    it('fire triggers once, are told and listed, and after a restart as before', async () => {
      await trigger('orderPlaced', { legacyWrapper: false, schema: { properties: { order: { const: 7 } } } });
      await trigger('noted');
      const [first, other, picture] = [randomUUID(), randomUUID(), randomUUID()];
      const stream = await openStream(service.url, `?from=now&source=${encodeURIComponent(source)}`);
      const position = await append(jsonEvent({ id: first, type: `${source}:orderPlaced`, data: { order: 7 } }));
      await append(jsonEvent({ id: other, type: `${source}:orderPlaced`, data: { order: 8 } }));
      await append(binaryEvent({ id: picture, type: `${source}:noted`, data: Buffer.from([0, 255]) }), 'plain');
      // No topic, and a stream of the platform.
      await append(jsonEvent({ type: 'noTopic', data: {} }));

      await until(async () => (await jobs(picture)).length === 1, 'a job of the last one');
      const [{ variables }] = await jobs(first);
      const { at, ...event } = variables._event;
      assert.deepEqual(event, { id: first, source, topic: 'orderPlaced', position, actor: null });
      assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000, at);
      assert.equal(variables.order, 7);
      assert.equal((await jobs(other)).length, 0);
      assert.equal((await jobs(picture))[0].variables.payload, Buffer.from([0, 255]).toString('base64'));

      await until(() => stream.frames.length === 3, 'three events in the stream');
      stream.close();
      const [{ data } = assert.fail()] = stream.frames;
      assert.deepEqual(
        [data.id, data.position, data.at, data.actor, data.resource, data.correlation, data.data],
        [first, position, at, null, null, first, { order: 7 }],
      );
      const audited = ok(await service.ask('GET', `/audit/events?source=${encodeURIComponent(source)}`)).results;
      assert.deepEqual(
        audited.map(({ id, actor }: any) => [id, actor]),
        [picture, other, first].map((id) => [id, null]),
      );
      const tested = await service.ask('POST', `${om}/triggers/${await trigger('orderPlaced')}/test`, { position });
      assert.equal(ok(tested).data.matches, true);

      const before = [await listed('orderPlaced'), await listed('noted'), (await jobs(first))[0]._id];
      assert.deepEqual([before[0][0].count, before[0][0].schema, before[1][0].count], [2, null, 1]);
      await restart();
      await until(async () => ok(await service.ask('GET', '/health/status')).triggers.waiting === 0);
      await append(jsonEvent({ id: randomUUID(), type: `${source}:noted`, data: 'again' }));
      await until(async () => (await listed('noted'))[0].count === 2, 'the last one is counted');
      assert.deepEqual(
        [await listed('orderPlaced'), (await jobs(first)).map(({ _id }) => _id)],
        [before[0], [before[2]]],
      );
    });

    it('whose payload no request could have brought start nothing, and their runs are parked', async () => {
      const id = await trigger('odd');
      const sealed = { password: { $sealed: 'AAAA', tag: 'x' } };
      await append(jsonEvent({ type: `${source}:odd`, data: sealed }));
      const parked = async (): Promise<any[]> =>
        ok(await service.ask('GET', `${om}/parked`)).data.filter((run: any) => run.trigger === id);
      await until(async () => (await parked()).length === 1, 'a parked run');
      assert.match(JSON.stringify(await parked()), /\$sealed/);
      const [{ _id: run }] = await parked();
      const retried = ok(await service.ask('POST', `${om}/parked/${run}/retry`)).data;
      assert.equal(retried.refused?.reason, 'unusable');
    });

    it('do not count unless FOREIGN_EVENTS says so', async () => {
      await trigger('late');
      await restart({ FOREIGN_EVENTS: 'crm,itsm' });
      const late = randomUUID();
      await append(jsonEvent({ id: late, type: `${source}:late`, data: {} }));
      const published = ok(await service.ask('POST', `${om}/events/${encodeURIComponent(source)}/late`, {})).data;
      await until(async () => (await jobs(published.id)).length === 1, 'a job of the one that was published');
      assert.deepEqual([(await jobs(late)).length, await listed('noted')], [0, []]);
      assert.equal((await listed('late'))[0].count, 1);
      const test = await service.ask('POST', `${om}/triggers/${await trigger('late')}/test`, { position: 1 });
      refused(test, 404);
    });
  });

count('the embedded log', embedded);
if (process.env.TEST_ESDB_URL) count('EventStoreDB', real);
