import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { createAccount, deleteAccount, updateAccount } from '../../../src/commands/authorization/accounts.ts';
import { createRole, updateRole } from '../../../src/commands/authorization/roles.ts';
import { setBanner } from '../../../src/commands/customization/banner.ts';
import { claimsOn } from '../../../src/commands/engine/claims.ts';
import {
  createAutomation,
  deleteAutomation,
  updateAutomation,
} from '../../../src/commands/operations-manager/automations.ts';
import { createTrigger } from '../../../src/commands/operations-manager/triggers.ts';
import { bannerId } from '../../../src/domain/customization/banner.ts';
import { bannerRoutes } from '../../../src/http/customization/banner.ts';
import type { Call, Route } from '../../../src/http/engine/route.ts';
import { serveRoute } from '../../../src/http/engine/serve.ts';
import type { Service } from '../../../src/http/engine/service.ts';
import { automationRoutes } from '../../../src/http/operations-manager/automations.ts';
import { projections } from '../../../src/projections/all.ts';
import { automations } from '../../../src/projections/operations-manager/automations.ts';
import { monitor } from '../../../src/service/monitor.ts';
import type { EventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { Tampered } from '../../../src/store/tampered.ts';
import { auditKey } from '../../support/auditKey.ts';
import { beforeSending } from '../../support/eventstoredbWorkbench.ts';
import { context } from '../../support/given.ts';
import { storedIn } from '../../support/logged.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { ok, refused } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { basic } from '../../support/service.ts';
import { touchedStore } from '../../support/tamperedStore.ts';
import { until } from '../../support/until.ts';
import { outcome } from '../../support/writer.ts';

const rows: readonly Route[] = [...automationRoutes, ...bannerRoutes.routes];

/** What a request is answered on a node, without HTTP around it: its body, or the refusal. */
const requests = ({ handle, tools, model, reader, guarding }: TestNode) => {
  const service = {
    handle,
    tools,
    model,
    tampered: guarding,
    ...reader,
    retries: { answered: async () => false, all: async () => [], find: async () => undefined },
    collectionOf: (aggregate) => projections.find(({ of }) => of === aggregate),
  } as Partial<Service> as Service; // what these rows use
  return async (name: string, id?: string, body: unknown = {}): Promise<any> => {
    // bodies are the rows' affair
    const row = rows.find((one) => one.name === name)!;
    const call = {
      params: id === undefined ? {} : { id },
      body,
      query: {},
      querystring: '',
      actor: context.actor,
      requestId: 'r',
      header: () => undefined,
    } as unknown as Call; // what these rows use
    const { body: text } = await serveRoute(row, service)(call, service);
    return JSON.parse(String(text));
  };
};

const isTouched =
  (stream: string) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof Tampered, String(error));
    assert.equal(error.code, 'unavailable');
    assert.match(error.message, new RegExp(`^Stream ${stream} `));
    return true;
  };

describe('a stream of the platform that somebody else has touched', () => {
  const { log, node } = nodesOnLog({ reacting: true });
  let touching: ReturnType<typeof touchedStore>;
  beforeEach(() => {
    touching = touchedStore(log.store);
  });

  const cold = (): Promise<TestNode> => node(touching.store);
  const automation = (on: TestNode, id: string, name = id) => on.command(createAutomation, id, { name });
  const names = async (on: TestNode): Promise<string[]> => (await on.tools.query(automations)).map(({ name }) => name);
  const nameOf = (name: string) => claimsOn({ kind: 'automation', name });

  const ways: Readonly<Record<string, (stream: string) => void>> = {
    'its first events were cut off': (stream) => touching.cut(stream, 1),
    'it was deleted': (stream) => touching.remove(stream),
    'its first events were cut off and scavenged': (stream) => {
      touching.cut(stream, 1);
      touching.scavenge();
    },
    'it was deleted and scavenged': (stream) => {
      touching.remove(stream);
      touching.scavenge();
    },
  };

  for (const [what, touch] of Object.entries(ways)) {
    it(`is refused with a reason, to whoever reads or changes it, and nothing else is: ${what}`, async () => {
      const warm = await cold();
      for (const id of ['x', 'y']) await automation(warm, id, `name of ${id}`);
      for (const description of ['1', '2']) await warm.command(updateAutomation, 'x', { description });
      touch('automation-x');
      const one = await cold();
      const ask = requests(one);

      for (const idOrName of ['x', 'name of x']) {
        await assert.rejects(
          ask('updateAutomation', idOrName, { description: '3' }),
          isTouched('automation-x'),
          idOrName,
        );
        await assert.rejects(ask('getAutomation', idOrName), isTouched('automation-x'), idOrName);
        await assert.rejects(ask('deleteAutomation', idOrName), isTouched('automation-x'), idOrName);
        await assert.rejects(ask('exportAutomation', idOrName), isTouched('automation-x'), idOrName);
      }
      assert.equal(
        await outcome(one.command(createAutomation, 'z', { name: 'name of x' })),
        'conflict',
        'its name stays its own',
      );
      await assert.rejects(one.command(createAutomation, 'x', { name: 'other' }), isTouched('automation-x'));
      assert.deepEqual([...one.touched.reasons().keys()], ['automation-x']);

      assert.equal(
        (await ask('updateAutomation', 'name of y', { description: 'on it goes' })).data.description,
        'on it goes',
      );
      await one.catchUp();
      assert.equal((await ask('getAutomation', 'y')).data.description, 'on it goes');
      assert.ok((await names(one)).includes('name of y'));
      await assert.rejects(ask('getAutomation', 'nobody'), { code: 'not_found' });
      await assert.rejects(ask('updateAutomation', 'nobody'), { code: 'not_found' });

      // Who holds it may go on until it reads the log, and then no longer.
      if (!what.includes('scavenged'))
        assert.equal((await warm.reader.entry(automations, 'x', context.actor)).revision, 2);
    });

    it(`is refused where nobody has asked to change it before: ${what}`, async () => {
      const warm = await cold();
      await automation(warm, 'x', 'name of x');
      for (const description of ['1', '2']) await warm.command(updateAutomation, 'x', { description });
      touch('automation-x');
      const ask = requests(await cold());
      // Until it is scavenged, whoever makes read models of the log finds all that there was.
      for (const idOrName of ['x', 'name of x']) {
        if (what.includes('scavenged')) await assert.rejects(ask('getAutomation', idOrName), isTouched('automation-x'));
        else assert.equal((await ask('getAutomation', idOrName)).data.description, '2');
      }
    });
  }

  it('is not "unset" either', async () => {
    await (await cold()).command(setBanner, bannerId, {
      text: 'Closed on Sunday',
      active: true,
      startTime: context.now,
    });
    touching.remove(`banner-${bannerId}`);
    touching.scavenge();
    await assert.rejects(requests(await cold())('getBanner'), isTouched(`banner-${bannerId}`));
  });

  it('is used again once it is as it was', async () => {
    await automation(await cold(), 'x');
    touching.remove('automation-x');
    const one = await cold();
    const ask = requests(one);
    await assert.rejects(ask('updateAutomation', 'x', { description: '1' }), isTouched('automation-x'));
    touching.mend('automation-x');
    assert.equal((await ask('getAutomation', 'x')).data._id, 'x');
    assert.equal((await ask('updateAutomation', 'x', { description: '1' })).data.description, '1');
    assert.equal(one.touched.reasons().size, 0);
  });

  it('that holds the claims on a name gives that name to nobody', async () => {
    const warm = await cold();
    await automation(warm, 'x', 'wanted');
    for (const touch of Object.values(ways).filter((_, n) => n % 2 === 1)) {
      touch(nameOf('wanted'));
      const one = await cold();
      await assert.rejects(automation(one, 'y', 'wanted'), isTouched(nameOf('wanted')));
      assert.equal((await requests(one)('getAutomation', 'wanted')).data._id, 'x', 'who bears it is not touched');
      assert.equal((await requests(one)('updateAutomation', 'wanted', { description: 'd' })).data._id, 'x');
    }
    assert.match(String(await outcome(automation(warm, 'y', 'wanted'))), /^(conflict|unavailable)$/);
    assert.deepEqual(await names(warm), ['wanted']);
  });

  it('and that takes an append elsewhere than where it belongs, is refused, and what was known of it forgotten', async () => {
    await automation(await cold(), 'x', 'first');
    const one = await cold();
    await automation(one, 'y', 'second');
    await one.command(deleteAutomation, 'y');
    // A node that finds nothing where others have written.
    const blind = {
      ...touching.store,
      read: async function* (stream: string, from?: number) {
        if (stream !== 'automation-y') yield* touching.store.read(stream, from);
      },
    };
    touching.remove('automation-y');
    const other = await node(blind);
    await assert.rejects(automation(other, 'y', 'third'), isTouched('automation-y'));
    await assert.rejects(automation(other, 'y', 'fourth'), isTouched('automation-y'), 'although nothing is read of it');
    assert.equal((await requests(one)('getAutomation', 'first')).data._id, 'x');
  });

  it('stops no node from starting, and nobody else from logging in', async () => {
    const warm = await cold();
    await warm.bootstrap();
    await warm.account('ann', { memberOf: ['readers'] });
    await warm.command(createRole, 'r', { name: 'r', allowedMethods: [] });
    const builtIn = (await storedIn(log.store))
      .map(({ stream }) => stream)
      .filter((stream) => /^(group|adapter|account)-/.test(stream) && stream !== 'account-ann');
    for (const stream of ['role-r', ...builtIn]) touching.remove(stream);
    const one = await cold();
    await one.bootstrap();
    const asAnn = await one.auth.authenticate({
      authorization: basic({ user: 'ann', password: 'password of ann' }),
      cookie: undefined,
      address: '127.0.0.1',
    });
    assert.equal(asAnn.actor.username, 'ann');
    await assert.rejects(one.command(updateRole, 'r', { name: 'q' }), isTouched('role-r'));
    await assert.rejects(one.command(createRole, 'other', { name: 'r', allowedMethods: [] }), { code: 'conflict' });
    await one.command(createAccount, 'ben', { username: 'ben', password: 'password of ben' });
    assert.equal(one.touched.has(builtIn[0]!), true);
  });

  it('keeps no other decision waiting whose turn comes after its own', async () => {
    const one = await cold();
    await one.bootstrap();
    for (const id of ['a', 'b']) await one.account(id, { memberOf: ['admins'] });
    await one.command(updateAccount, 'a', { memberOf: ['admins', 'readers'] });
    for (const touch of [() => touching.cut('account-a', 1), () => touching.remove('account-a')]) {
      touch();
      const other = await cold();
      await other.command(updateAccount, 'b', { memberOf: ['admins', 'operators'] });
      await other.command(updateAccount, 'b', { memberOf: ['admins'] });
    }
    await assert.rejects((await cold()).command(deleteAccount, 'a'), isTouched('account-a'));
  });

  it('has its consequences parked at once; those of others go on', async () => {
    const one = await cold();
    for (const id of ['x', 'y']) {
      await automation(one, id);
      await one.command(createTrigger, `of-${id}`, {
        type: 'manual',
        name: id,
        enabled: true,
        actionType: 'automations',
        actionId: id,
        formData: null,
        formId: null,
      });
    }
    touching.remove('trigger-of-x');
    const other = await cold();
    for (const id of ['x', 'y']) await other.command(deleteAutomation, id);
    await other.catchUp();
    const parked = async (): Promise<readonly string[]> => {
      const { entries } = await other.model.list('parkedReactions', { sort: 'at', order: 1, skip: 0, limit: 10 });
      return entries.map(({ text }) => JSON.parse(text).stream);
    };
    await until(async () => (await parked()).includes('automation-x'));
    await until(async () => (await other.model.get('triggers', 'of-y')) === undefined);
    assert.ok((await parked()).every((stream) => stream.endsWith('x')));
  });

  it('is named by health, which is degraded', async () => {
    const one = await cold();
    await automation(one, 'x');
    touching.remove('automation-x');
    const two = await cold();
    let untold = 0;
    const health = (on: TestNode) =>
      monitor({
        node: on,
        opened: { remote: { lag: () => untold } as EventStoreDb },
        readModels: { kind: 'memory', snapshotPosition: () => 0 },
        logListens: undefined,
        misplaced: { met: () => undefined, count: () => 0, streams: () => [] },
        parts: [],
        failedLogins: () => 0,
      });
    assert.equal((await health(two).status()).status, 'up');
    await assert.rejects(two.command(updateAutomation, 'x', { description: 'd' }), isTouched('automation-x'));
    const { status, eventStore } = (await health(two).status()) as any; // a body
    assert.deepEqual(
      [status, eventStore.touched, await health(two).ready()],
      ['degraded', { 'automation-x': 'Stream automation-x was deleted' }, true],
    );
    assert.equal(await health(two).measures.streams_touched!.value(), 1);
    assert.equal((await health(one).status()).status, 'up', 'a node that has not noticed');
    untold = 7;
    const { readStore } = (await health(one).status()) as any; // a body
    const { projection_lag, store_lag } = health(one).measures;
    assert.deepEqual([readStore.lag, projection_lag?.value(), store_lag?.value()], [7, 7, 7], 'one figure');
  });
});

describe('a service over an EventStoreDB in which streams were cut and scavenged', () => {
  let server: Awaited<ReturnType<typeof scriptedEventStore>>;
  // In a process of its own: here the adapter would be loaded apart from the classes of errors that it shares with
  // others.
  let service: Server;
  let folder: string;
  const start = () =>
    startServer(folder, { EVENTSTORE_URL: server.url, SECRET_KEY: 'the same on every node', AUDIT_KEY: auditKey });
  const gone = new Map<string, number>();
  before(async () => {
    const { handlers } = memoryEventStore();
    server = await scriptedEventStore({
      ...handlers,
      // Nobody gets the events that are gone.
      read: (call) => {
        beforeSending(call, (response) => {
          const event = response.getEvent()?.getEvent();
          const stream = Buffer.from(event?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
          return !event || Number(event.getStreamRevision()) >= (gone.get(stream) ?? 0);
        });
        handlers.read(call);
      },
    });
    folder = temporaryFolder();
    service = await start();
  });
  after(async () => {
    await service.stop();
    server.stop();
    rmSync(folder, { recursive: true });
  });

  it('answers 503 with the reason for their resources alone, and says so in its health', async () => {
    const path = '/operations-manager/automations';
    const make = async (name: string): Promise<string> => ok(await service.ask('POST', path, { name })).data._id;
    const [cut, whole] = [await make('cut'), await make('whole')];
    for (const description of ['1', '2']) ok(await service.ask('PATCH', `${path}/cut`, { description }));
    gone.set(`automation-${cut}`, 2);
    await service.stop();
    service = await start();
    await until(async () => (await service.ask('GET', '/health/ready')).status === 200);
    for (const [method, body] of [['GET'], ['PATCH', { description: '3' }], ['DELETE']] as const) {
      const answer = await service.ask(method, `${path}/${cut}`, body);
      refused(
        answer,
        503,
        new RegExp(`Stream automation-${cut} goes on at revision 2, where 0 was to come: somebody else changed it`),
      );
      assert.ok(answer.headers.get('retry-after'));
    }
    refused(await service.ask('GET', `${path}/${cut}/export`), 503, /somebody else changed it/);
    refused(await service.ask('POST', path, { name: 'cut' }), 409, /is taken/);
    assert.deepEqual(
      ok(await service.ask('GET', path)).data.map(({ name }: { name: string }) => name),
      ['whole'],
    );
    assert.equal(ok(await service.ask('PATCH', `${path}/whole`, { description: 'on it goes' })).data._id, whole);
    const { status, eventStore, parked } = ok(await service.ask('GET', '/health/status'));
    assert.equal(status, 'degraded');
    assert.match(eventStore.touched[`automation-${cut}`], /goes on at revision 2/);
    assert.match(parked.documents[`automations/${cut}`], new RegExp(`^Stream automation-${cut} goes on at revision 2`));
    assert.match((await service.ask('GET', '/metrics')).text, /^automation_platform_streams_touched 1$/m);
    assert.equal((await service.ask('GET', '/health/ready')).status, 200);
    const lines = () => service.output().out.split('has touched a stream').length - 1;
    await until(() => lines() > 0, 'the line of the log');
    assert.equal(lines(), 1);
  });
});
