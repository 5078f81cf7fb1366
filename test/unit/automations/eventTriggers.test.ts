import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { filters } from '@automation-platform/bounded-schemas';
import { pino } from 'pino';
import { jobIdOf } from '../../../src/commands/operations-manager/firing.ts';
import type { Run } from '../../../src/commands/operations-manager/triggerRuns.ts';
import { restoreTrigger } from '../../../src/commands/operations-manager/triggers.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { settingsOf } from '../../../src/http/profiles/settings.ts';
import { parkedIdOf } from '../../../src/runners/triggers/firing.ts';
import { type Base, eventTriggersOf } from '../../../src/service/runners.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { eventsIn } from '../../support/logged.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { shortPauses } from '../../support/pauses.ts';
import {
  accessOn,
  failingRun,
  outcomeIn,
  peopleOn,
  runsOn,
  sortedOutcome,
  triggersOn,
} from '../../support/triggering.ts';
import { until } from '../../support/until.ts';

/** Answers slowly what an account may see, and counts how many are asked at once, at most. */
const crowd = <About extends unknown[]>(ms: number, sees: (...about: About) => Promise<boolean>) => {
  let [now, most] = [0, 0];
  return {
    most: () => most,
    forget: (): void => {
      most = 0;
    },
    sees: async (...about: About): Promise<boolean> => {
      now++;
      most = Math.max(most, now);
      await pause(ms);
      now--;
      return sees(...about);
    },
  };
};

describe('event triggers', () => {
  const { log, node: start } = nodesOnLog();
  let node: TestNode;
  let people: ReturnType<typeof peopleOn>;
  let running: Pick<ReturnType<typeof triggersOn>, 'stop' | 'status' | 'settled'>[];
  beforeEach(async () => {
    node = await start();
    people = peopleOn(node);
    running = [];
    await node.bootstrap();
    await node.account('runner', { memberOf: ['operators', 'readers'] });
    await people.automation('a');
    await triggersOn(node, log.store).prepare(false);
  });
  afterEach(() => Promise.all(running.map((each) => each.stop())));

  const run = (...more: Parameters<typeof triggersOn>[2][]) => {
    const triggers = triggersOn(node, log.store, ...more);
    running.push(triggers);
    triggers.start();
    return triggers;
  };
  const stop = () => Promise.all(running.splice(0).map((each) => each.stop()));
  const started = async () => (await eventsIn(log.store)).filter(({ topic }) => topic === 'jobStarted');
  const outcome = async () => outcomeIn(await eventsIn(log.store));
  /** Once the reader has passed all that is in the log but its own notes. */
  const passed = async (position?: number): Promise<void> => {
    const head = position ?? (await log.store.head());
    await until(async () => ((await log.store.checkpoint('triggers')) ?? 0) >= head, 'the checkpoint');
    await until(async () => (await log.store.checkpointsOf('triggers')).size === 0, 'no trigger is behind');
  };

  it('start one job for each event that fits, and for no other', async () => {
    await people.trigger('t1');
    await people.trigger('t2', { schema: { type: 'object', required: ['k'], properties: { k: { const: 1 } } } });
    await people.trigger('t3', { topic: 'other' });
    await people.trigger('t4', { enabled: false });
    run();
    const e1 = await people.publish('p1', { k: 1 });
    const e2 = await people.publish('p2', { k: 2 });
    const e3 = await people.publish('p3', null, { topic: 'other' });
    await passed();
    // Triggers do not wait for one another.
    assert.deepEqual(sortedOutcome(await eventsIn(log.store)), {
      jobs: [`t1 ${e1.id}`, `t2 ${e1.id}`, `t1 ${e2.id}`, `t3 ${e3.id}`].sort(),
      refused: {},
      parked: [],
    });
    const [first] = (await eventsIn(log.store)).filter(({ topic }) => topic === 'jobStarted');
    assert.equal(first!.metadata.actor.id, 'runner');
    assert.equal(first!.metadata.$causationId, e1.id);
    assert.equal(first!.data.depth, 1);
    assert.deepEqual(first!.data.watchers, []);
    assert.equal(first!.data.variables._event.position, e1.position);
    assert.deepEqual(first!.data.variables.payload, { k: 1 });
  });

  it('go by what trigger and automation said at the event', async () => {
    await people.trigger('t1');
    const before = await people.publish('p1', 'before');
    await people.change('t1', { topic: 'other', legacyWrapper: false });
    const after = await people.publish('p2', 'after');
    const other = await people.publish('p3', { x: 1 }, { topic: 'other' });
    await people.trigger('t2');
    run();
    await passed();
    assert.deepEqual((await outcome()).jobs, [`t1 ${before.id}`, `t1 ${other.id}`]);
    assert.ok(after);
    const jobs = (await eventsIn(log.store)).filter(({ topic }) => topic === 'jobStarted');
    assert.deepEqual(
      jobs.map(({ data: { variables } }) => [variables.payload, variables.x]),
      [
        ['before', undefined],
        [undefined, 1],
      ],
    );
  });

  it('go by what the automation said at the event', async () => {
    await people.trigger('t1');
    const before = await people.publish('p1');
    await people.changeAutomation('a', { componentType: 'workflows', componentName: 'second' });
    const after = await people.publish('p2');
    run();
    await passed();
    assert.deepEqual(
      (await started()).map(({ data }) => [data.event, data.component]),
      [
        [before.id, { type: null, name: 'a' }],
        [after.id, { type: 'workflows', name: 'second' }],
      ],
    );
  });

  it('go by what was said at the event also when they are behind, and read on by themselves', async () => {
    const at = await log.store.head();
    await people.trigger('t1');
    const first = await people.publish('p1');
    await people.change('t1', { topic: 'other' });
    await people.publish('p2');
    const second = await people.publish('p3', 0, { topic: 'other' });
    await people.change('t1', { schema: { const: 1 } });
    await people.publish('p5', 0, { topic: 'other' });
    const third = await people.publish('p6', 1, { topic: 'other' });
    await log.store.setCheckpoint('triggers', await log.store.head());
    await log.store.setCheckpoint('triggers:t1', at);
    run();
    await until(async () => (await log.store.checkpointsOf('triggers')).size === 0, 'no trigger is behind');
    assert.deepEqual(
      (await outcome()).jobs,
      [first, second, third].map(({ id }) => `t1 ${id}`),
    );
  });

  it('start jobs by the account that changed them last, in the correlation of the event', async () => {
    await node.account('second', { memberOf: ['operators', 'readers'] });
    await people.trigger('t1');
    await people.change('t1', { description: 'Mine now' }, 'second');
    const event = await people.publish('p1', {}, { correlation: 'the change that all this is about' });
    run();
    await passed();
    const [{ metadata, data } = assert.fail()] = await started();
    const { actor, $causationId, $correlationId } = metadata;
    assert.deepEqual(
      [actor.id, $causationId, $correlationId, data.event],
      ['second', event.id, 'the change that all this is about', event.id],
    );
  });

  it('are decided so many events at once as eventWorkerCount says, and no more', async () => {
    await people.trigger('t1');
    const { most, sees } = crowd(5, async () => true);
    run({ decidedAtOnce: () => 4, sees });
    for (let n = 0; n < 40; n++) await people.publish(`p${n}`);
    await passed();
    assert.equal((await outcome()).jobs.length, 40);
    assert.ok(most() > 1 && most() <= 4, `${most()}`);
  });

  it('that are behind share the places of eventWorkerCount', async () => {
    const at = await log.store.head();
    const ids = ['t1', 't2', 't3', 't4', 't5'];
    for (const id of ids) await people.trigger(id);
    for (let n = 0; n < 4; n++) await people.publish(`p${n}`);
    await log.store.setCheckpoint('triggers', await log.store.head());
    for (const id of ids) await log.store.setCheckpoint(`triggers:${id}`, at);
    const { most, sees } = crowd(2, async () => true);
    run({ decidedAtOnce: () => 2, sees });
    await passed();
    assert.equal((await outcome()).jobs.length, 20);
    assert.equal(most(), 2);
  });

  it('with a colon in the topic wait for nothing, also when they are behind', async () => {
    const at = await log.store.head();
    const about = { name: 't1', enabled: true, actionType: 'automations', actionId: 'a', schema: null, jst: null };
    const [created, by] = [new Date(0).toISOString(), 'runner'];
    const authors = { created, createdBy: by, lastUpdated: created, lastUpdatedBy: by };
    const waits = { type: 'eventSystem', source: 's', topic: 'a:b' };
    await node.command(restoreTrigger, 't1', { ...about, ...waits, ...authors });
    await people.publish('p1', 0, { source: 's:a', topic: 'b' });
    await log.store.setCheckpoint('triggers', await log.store.head());
    await log.store.setCheckpoint('triggers:t1', at);
    run();
    await passed();
    assert.deepEqual(await outcome(), { jobs: [], refused: {}, parked: [] });
  });

  it('are decided by another eventWorkerCount of the active profile as soon as it changes', async () => {
    await people.trigger('t1');
    let eventWorkerCount = 1;
    const access = accessOn(node, log.store);
    const { most, forget, sees } = crowd(5, access.sees);
    const triggers = eventTriggersOf({
      config: { TRIGGER_RATE: 1_000_000 },
      node,
      settings: { current: () => settingsOf({ systemProps: { eventWorkerCount } }) },
      runs: { ...runsOn(node), ran: () => undefined },
      filters: filters(10),
      access: { ...access, sees },
      metrics: { ran: () => undefined },
      logger: pino({ level: 'silent' }),
    } as unknown as Base);
    running.push(triggers);
    triggers.start();
    /** How many of 20 more events were decided at once, at most. */
    let published = 0;
    const mostOfMore = async (): Promise<number> => {
      forget();
      for (let n = 0; n < 20; n++) await people.publish(`p${published++}`);
      await until(async () => (await outcome()).jobs.length === published, 'the jobs');
      return most();
    };
    assert.equal(await mostOfMore(), 1);
    eventWorkerCount = 4;
    const more = await mostOfMore();
    assert.ok(more > 1 && more <= 4, `${more}`);
    eventWorkerCount = 1;
    assert.equal(await mostOfMore(), 1);
  });

  it('begin at the head of a log that was never read, and say so', async () => {
    await people.trigger('t1');
    await people.publish('p1');
    await log.store.removeCheckpoint('triggers');
    const said: unknown[] = [];
    const head = await log.store.head();
    await triggersOn(node, log.store, { info: (message, about) => said.push([message, about]) }).prepare(true);
    await triggersOn(node, log.store, { info: (message, about) => said.push([message, about]) }).prepare(true);
    run();
    const event = await people.publish('p2');
    await passed();
    assert.deepEqual((await outcome()).jobs, [`t1 ${event.id}`]);
    assert.deepEqual(said, [['Event triggers begin at the head of the log', { position: head, head }]]);
  });

  it('refuse in words what starts nothing: trigger disabled or gone, no rights; the account as of now', async () => {
    await people.automation('b', { gbac: { read: ['admins'], write: ['admins'] } });
    await people.trigger('disabled');
    await people.trigger('gone');
    await people.trigger('shut', { actionId: 'b' });
    await people.trigger('nobody', {}, { id: 'nobody' });
    await people.publish('p1');
    await people.publish('p2');
    await people.change('disabled', { enabled: false });
    await people.noTrigger('gone');
    await people.publish('p3');
    run();
    await passed();
    assert.deepEqual(await outcome(), {
      jobs: [],
      refused: { 'disabled disabled': 2, 'gone gone': 2, 'shut rights': 3, 'nobody rights': 3 },
      parked: [],
    });
  });

  it('leave no trace of an event that the account may not see', async () => {
    await node.account('blind', { memberOf: ['operators'] });
    await people.trigger('t1', { source: '@platform/authorization', topic: 'accountCreated' }, { id: 'blind' });
    await people.trigger('t2', { source: '@platform/operations-manager', topic: 'runsRefused' });
    await people.trigger('t3', { source: '@platform/operations-manager', topic: 'nameClaimed' });
    await people.automation('shut', { gbac: { read: ['admins'], write: ['admins'] } });
    const accounts = { source: '@platform/authorization', topic: 'accountCreated' };
    await people.trigger('blind and shut out', { ...accounts, actionId: 'shut' }, { id: 'blind' });
    run();
    await node.account('somebody');
    await passed();
    assert.deepEqual(await outcome(), { jobs: [], refused: {}, parked: [] });
  });

  it('fire nothing by events that nobody may see, whoever the account is', async () => {
    const hidden = [
      { source: '@platform/operations-manager', topic: 'runsRefused' },
      { source: '@platform/operations-manager', topic: 'triggerRan' },
      { source: '@platform/log', topic: 'reactionParked' },
      { source: '@platform/log', topic: 'claimed' },
      { source: '@platform/strangers', topic: 'noted' },
    ];
    for (const [n, more] of hidden.entries()) {
      await people.trigger(`gone${n}`, more, { id: 'nobody' });
      await people.trigger(`sees all${n}`, more);
    }
    await people.trigger('refused', {}, { id: 'nobody' });
    for (const [n, { source, topic }] of hidden.entries()) {
      const about = { actor: { id: 'x', username: 'x', provenance: 'local' }, at: new Date(0).toISOString() };
      const event = { id: randomUUID(), type: `${source}:${topic}`, data: '{}', metadata: JSON.stringify(about) };
      for (const category of ['name', 'checks', 'parkedReaction'])
        await log.store.append(`${category}-of ${n}`, -1, [{ ...event, id: randomUUID() }]);
    }
    run();
    await people.publish('p1');
    await until(async () => (await outcome()).refused['refused rights'] === 1, 'the refusal');
    await passed();
    await stop();
    assert.deepEqual(await outcome(), { jobs: [], refused: { 'refused rights': 1 }, parked: [] });
  });

  it('end loops: eight jobs, then one refusal', async () => {
    await people.trigger('t1', { source: '@platform/operations-manager', topic: 'jobStarted' });
    await people.trigger('t2');
    run();
    await people.publish('p1');
    await until(async () => Object.keys((await outcome()).refused).length > 0, 'the refusal');
    await passed();
    const { jobs, refused } = await outcome();
    assert.equal(jobs.filter((one) => one.startsWith('t1 ')).length, 7); // the first one is of t2
    assert.deepEqual(refused, { 't1 loop': 1 });
    await people.publish('deep', {}, { depth: 8 });
    await people.publish('not so deep', {}, { depth: 7 });
    await until(async () => (await outcome()).refused['t2 loop'] === 1, 'the refusal');
    await until(async () => (await outcome()).refused['t1 loop'] === 2, 'the other refusal');
  });

  it('wait when there are too many in a minute, and hold up nobody', async () => {
    await people.trigger('t1');
    await people.trigger('t2', { schema: { const: 'last' } });
    let now = 1_000_000;
    run({ rate: 3, elapsed: () => now });
    const events: Awaited<ReturnType<typeof people.publish>>[] = [];
    for (let n = 0; n < 7; n++) events.push(await people.publish(`p${n}`, n));
    const last = await people.publish('last', 'last');
    await until(async () => (await outcome()).jobs.includes(`t2 ${last.id}`), 'the job of another trigger');
    await until(async () => (await log.store.checkpoint('triggers'))! >= last.position, 'the common checkpoint');
    const cursors = await log.store.checkpointsOf('triggers');
    assert.deepEqual([...cursors.keys()], ['triggers:t1']);
    const isBetween = (position: number | undefined, n: number) =>
      assert.ok(position! >= events[n]!.position && position! < events[n + 1]!.position, `${position}`);
    isBetween(cursors.get('triggers:t1'), 2);
    const { waiting, behind } = running[0]!.status();
    assert.ok(waiting > 0 && behind === 1, `${waiting}`);
    assert.equal((await outcome()).jobs.length, 4);
    now += 61_000;
    await until(async () => (await outcome()).jobs.length === 7, 'three more jobs');
    await until(() => running[0]!.settled()! >= events[5]!.position, 'six events settled');
    isBetween(running[0]!.settled(), 5);
    await stop();
    run({ rate: 1000, elapsed: () => now });
    await passed();
    const of1 = (await outcome()).jobs.filter((one) => one.startsWith('t1 '));
    assert.deepEqual(
      of1,
      [...events, last].map(({ id }) => `t1 ${id}`),
    );
  });

  it('that are disabled give up what waits: one refusal counts it', async () => {
    await people.trigger('t1');
    run({ rate: 2, elapsed: () => 0, pauses: { ...shortPauses, placeMs: 3000 } });
    for (let n = 0; n < 300; n++) await people.publish(`p${n}`, n);
    await until(() => running[0]!.status().behind === 1, 'the backlog');
    await people.change('t1', { enabled: false });
    await people.publish('later');
    await passed();
    const { jobs, refused } = await outcome();
    assert.equal(jobs.length, 2);
    assert.deepEqual(refused, { 't1 disabled': 298 });
    const notes = (await eventsIn(log.store)).filter(({ topic }) => topic === 'runsRefused');
    assert.equal(notes.length, 1);
  });

  it('that were disabled have given up what waited, even if they are enabled again at once', async () => {
    const at = await log.store.head();
    await people.trigger('t1');
    await people.publish('before');
    await people.change('t1', { enabled: false });
    await people.publish('meanwhile');
    await people.change('t1', { enabled: true });
    const after = await people.publish('after');
    await log.store.setCheckpoint('triggers', await log.store.head());
    await log.store.setCheckpoint('triggers:t1', at);
    run();
    await passed();
    assert.deepEqual(await outcome(), { jobs: [`t1 ${after.id}`], refused: { 't1 disabled': 1 }, parked: [] });
  });

  itInSoak('leave requests their turns while a long backlog ends', async () => {
    await people.trigger('t1');
    run({ rate: 1, elapsed: () => 0 });
    for (let n = 0; n < 5000; n += 500)
      await Promise.all(Array.from({ length: 500 }, (_, i) => people.publish(`p${n + i}`, n + i)));
    await until(() => running[0]!.status().behind === 1, 'the backlog');
    let [last, longest] = [performance.now(), 0];
    const turns = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    await people.change('t1', { enabled: false });
    await passed();
    clearInterval(turns);
    assert.equal((await outcome()).refused['t1 disabled'], 4999);
    assert.ok(longest < 300, `${longest} ms`);
  });

  it('are tried six times, then parked with their event, and only they', async () => {
    await people.trigger('bad');
    await people.trigger('good');
    let tries = 0;
    const fails = ({ trigger, given }: Run) => trigger.id === 'bad' && 'payload' in given && given.payload === 'poison';
    run({
      run: failingRun(node, (one) => {
        if (fails(one)) tries++;
        return fails(one);
      }),
    });
    const poison = await people.publish('p1', 'poison');
    const next = await people.publish('p2', 'well');
    await until(async () => (await outcome()).jobs.includes(`good ${next.id}`), 'the job of the other trigger');
    await until(async () => (await outcome()).jobs.length === 3, 'the next job of the bad trigger');
    await passed();
    const { jobs, parked } = await outcome();
    assert.deepEqual([...jobs].sort(), [`bad ${next.id}`, `good ${next.id}`, `good ${poison.id}`].sort());
    assert.equal(tries, 6);
    assert.equal(parked.length, 1);
    await node.catchUp();
    const { entries } = await node.model.list('parkedReactions', { sort: 'at', order: 1, skip: 0, limit: 10 });
    const doc = JSON.parse(entries[0]!.text);
    assert.deepEqual(
      [doc.trigger, doc.event, doc.tries, doc.reason, doc._id],
      ['bad', poison.id, 6, 'poison', parked[0]!.split(' ')[1]],
    );
    await stop();
    // Whatever the checkpoint says: nothing happens again.
    await log.store.setCheckpoint('triggers', poison.position - 1);
    const again = run();
    await passed();
    assert.deepEqual(await outcome(), { jobs, parked, refused: {} });
    const about = {
      actor: { id: 'x', username: 'x', provenance: 'local', groups: [], admin: true },
      operation: 'retryParked',
      requestId: 'r',
    };
    assert.deepEqual(await again.retry(doc._id, about), { job: await jobOf('bad', poison.id), refused: null });
    await assert.rejects(again.retry(doc._id, about), { code: 'not_found' });
    assert.ok((await outcome()).jobs.includes(`bad ${poison.id}`));
  });

  it('whose job lies in a stream that others have spoilt are parked, and hold up nobody', async () => {
    await people.trigger('t1');
    await people.trigger('t2');
    const [first, second] = [await people.publish('p1'), await people.publish('p2')];
    const spoil = (stream: string, topic: string) => {
      const type = `@platform/operations-manager:${topic}`;
      return log.store.append(stream, -1, [{ id: randomUUID(), type, data: 'spoilt', metadata: '{}' }]);
    };
    for (const { id } of [first, second]) await spoil(`job-${jobIdOf('t1', id)}`, 'jobStarted');
    // The second cannot even be parked.
    await spoil(`parkedReaction-${parkedIdOf(second.id, 't1')}`, 'reactionCompleted');
    run();
    const last = await people.publish('p3');
    await passed();
    const found: string[] = [];
    for await (const { events } of log.store.readAll(0)) for (const { stream } of events) found.push(stream);
    const jobs = [first, second, last].flatMap(({ id }) =>
      ['t1', 't2'].map((trigger) => `job-${jobIdOf(trigger, id)}`),
    );
    const parked = [first, second].map(({ id }) => `parkedReaction-${parkedIdOf(id, 't1')}`);
    const isOutcome = (stream: string) => /^(job|parkedReaction)-/.test(stream);
    assert.deepEqual(found.filter(isOutcome).sort(), [...jobs, ...parked].sort());
  });

  describe('and runs that were parked', () => {
    const about = {
      actor: { id: 'x', username: 'x', provenance: 'local', groups: [], admin: true },
      operation: 'retryParked',
      requestId: 'r',
    };
    let id: string;
    let triggers: ReturnType<typeof triggersOn>;
    const park = async (more: object = {}, publishing: Parameters<typeof people.publish>[2] = {}) => {
      await people.trigger('bad', more);
      let fails = true;
      triggers = run({ run: failingRun(node, () => fails) });
      const { id: event } = await people.publish('p1', 'poison', publishing);
      await until(async () => (await outcome()).parked.length === 1, 'the parked run');
      fails = false;
      id = parkedIdOf(event, 'bad');
      await node.catchUp();
      return event;
    };
    const retried = async () => {
      await node.catchUp();
      const { job, refused } = await triggers.retry(id, about);
      if (refused) assert.ok(refused.message.length > 10, refused.message);
      return job === null ? refused?.reason : 'job';
    };

    it('are decided by what trigger and automation say when they are tried again', async () => {
      const event = await park();
      await people.change('bad', { enabled: false });
      assert.equal(await retried(), 'disabled');
      await people.change('bad', { enabled: true, source: 'another' });
      assert.equal(await retried(), 'source');
      await people.change('bad', { source: 's', topic: 'another' });
      assert.equal(await retried(), 'topic');
      await people.change('bad', { topic: 't', schema: { const: 'well' } });
      assert.equal(await retried(), 'schema');
      await people.change('bad', { schema: null, jst: ['unknown'] });
      assert.equal(await retried(), 'transformation');
      await people.change('bad', { jst: null });
      await people.changeAutomation('a', { componentName: 'now' });
      await people.changeAccount('runner', { inactive: true });
      assert.equal(await retried(), 'rights');
      await people.changeAccount('runner', { inactive: false });
      assert.deepEqual(await outcome(), { jobs: [], refused: {}, parked: [`bad ${id}`] }, 'it stays parked');
      assert.equal(await retried(), 'job');
      const [{ data } = assert.fail()] = await started();
      assert.deepEqual([data.event, data.component.name], [event, 'now']);
      await assert.rejects(triggers.retry(id, about), { code: 'not_found' });
    });

    it('are refused when the trigger is gone', async () => {
      await park();
      await people.noTrigger('bad');
      assert.equal(await retried(), 'gone');
      assert.deepEqual((await outcome()).jobs, []);
    });

    it('that are tried by two at once start one job', async () => {
      await park();
      const both = await Promise.allSettled([triggers.retry(id, about), triggers.retry(id, about)]);
      assert.ok(both.some(({ status }) => status === 'fulfilled'));
      await passed();
      assert.equal((await outcome()).jobs.length, 1);
    });
  });

  const jobOf = async (trigger: string, event: string) => {
    const found = (await eventsIn(log.store)).find(
      ({ topic, data }) => topic === 'jobStarted' && data.trigger === trigger && data.event === event,
    );
    return found?.stream.slice('job-'.length);
  };

  it('count a refusal once, though a trigger reads on by itself further than the common reader', async () => {
    await people.trigger('nobody', {}, { id: 'nobody' });
    await log.store.setCheckpoint('triggers', await log.store.head());
    await log.store.setCheckpoint('triggers:nobody', await log.store.head());
    for (let n = 0; n < 3; n++) await people.publish(`p${n}`);
    let goOn = (): void => undefined;
    const mayGoOn = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = {
      ...log.store,
      async *follow(...args: Parameters<typeof log.store.follow>) {
        await mayGoOn;
        yield* log.store.follow(...args);
      },
    };
    const triggers = triggersOn(node, slow);
    running.push(triggers);
    triggers.start();
    await until(async () => (await outcome()).refused['nobody rights'] === 3, 'the refusals');
    await until(async () => (await log.store.checkpointsOf('triggers')).size === 0, 'the trigger is not behind');
    // Time enough to forget it.
    await pause(100);
    goOn();
    await people.publish('last');
    await passed();
    await until(async () => ((await outcome()).refused['nobody rights'] ?? 0) >= 4, 'the last refusal');
    await stop();
    assert.deepEqual((await outcome()).refused, { 'nobody rights': 4 });
  });

  it('count a refusal once, though the log stores it and then fails to say so', async () => {
    await people.trigger('nobody', {}, { id: 'nobody' });
    let lost = 0;
    const forgetful = {
      ...log.store,
      append: async (...args: Parameters<typeof log.store.append>) => {
        const position = await log.store.append(...args);
        if (args[0] === 'triggerRuns-nobody' && lost++ < 2)
          throw new RequestError('unavailable', 'The answer was lost');
        return position;
      },
    };
    const other = await start(forgetful);
    const triggers = triggersOn(other, forgetful);
    running.push(triggers);
    triggers.start();
    for (let n = 0; n < 3; n++) await people.publish(`p${n}`);
    await until(async () => (await outcome()).refused['nobody rights'] === 3, 'the refusals');
    await people.publish('last');
    await until(async () => ((await outcome()).refused['nobody rights'] ?? 0) >= 4, 'the last refusal');
    await passed();
    await stop();
    assert.ok(lost >= 2, `${lost}`);
    assert.deepEqual((await outcome()).refused, { 'nobody rights': 4 });
  });

  it('look at the account just before the job starts', async () => {
    await people.trigger('t1');
    await people.publish('p1');
    await people.changeAccount('runner', { inactive: true });
    run();
    await passed();
    assert.deepEqual((await outcome()).refused, { 't1 rights': 1 });
  });
});
