import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, refused } from '../../support/people.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';
import { ours, person, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

const om = '/operations-manager';
const password = 'a long enough password';

/** Tasks for people, and the groups of each. */
const groupsOf = { red: ['red'], blue: ['blue'], both: ['red', 'blue'], open: [] } as const;
type Named = keyof typeof groupsOf;
const all = Object.keys(groupsOf) as Named[];

/** The groups of each person, and the tasks that the person may do. `rita` may read only. */
const persons = {
  anna: { memberOf: ['operators', 'red'], mayDo: ['red', 'both', 'open'] },
  ben: { memberOf: ['operators', 'blue'], mayDo: ['blue', 'both', 'open'] },
  cleo: { memberOf: ['operators'], mayDo: ['open'] },
  rita: { memberOf: ['readers', 'red'], mayDo: ['red', 'both', 'open'] },
  admin: { memberOf: [], mayDo: all },
} as const satisfies Record<string, { memberOf: readonly string[]; mayDo: readonly Named[] }>;
type Person = keyof typeof persons;
const names = Object.keys(persons) as Person[];
const pairs = names.flatMap((who) => all.map((task) => [who, task] as const));
const mayDo = (who: Person, task: Named): boolean => (persons[who].mayDo as readonly Named[]).includes(task);

describe('tasks for people of two groups', function () {
  this.timeout(60_000);
  const service = useService();
  const asks = new Map<Person, Ask>();
  const as = (who: Person): Ask => asks.get(who)!;
  const start = async (name: string): Promise<string> =>
    ok(await as('anna')('POST', `${om}/jobs/start`, { workflow: name })).data._id;
  const jobNow = async (id: string): Promise<Json> => ok(await as('admin')('GET', `${om}/jobs/${id}`)).data;
  const save = async (name: string, tasks: Json, edges: readonly string[]) =>
    ok(await as('admin')('POST', `${om}/workflows`, { ...workflow(tasks, edges), name }));
  const logged = (id: string) => withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, `job-${id}`));
  const position = async (): Promise<number> => ok(await service.ask('GET', '/health/status')).eventStore.position;

  before(async () => {
    asks.set('admin', service.ask);
    for (const name of ['red', 'blue'])
      ok(await service.ask('POST', '/authorization/groups', { name, description: '' }));
    for (const username of names.filter((name) => name !== 'admin')) {
      const { memberOf } = persons[username];
      ok(await service.ask('POST', '/authorization/accounts', { username, password, memberOf }));
      asks.set(username, service.as({ user: username, password }));
    }
    const tasks = all.map((task) => [task, person({ groups: groupsOf[task] })] as const);
    await save(
      'Of groups',
      Object.fromEntries(tasks),
      all.flatMap((task) => [`start -> ${task}`, `${task} -> end`]),
    );
  });

  it('are seen by members and admins alone: in lists, counts, as runs, and at earlier times', async () => {
    const job = await start('Of groups');
    const then = await position();
    const look = async (query: string) => {
      for (const who of names) {
        const list = ok(await as(who)('GET', `${om}/tasks?job=${job}&limit=1${query}`));
        assert.equal(list.metadata.total, persons[who].mayDo.length, `${who}, ${query}`);
        const { data } = ok(await as(who)('GET', `${om}/tasks?job=${job}${query}`));
        const expected = all.filter((task) => mayDo(who, task));
        assert.deepEqual(data.map(({ task }: Json) => task).sort(), [...expected].sort(), `${who}, ${query}`);
        const red = ok(await as(who)('GET', `${om}/tasks?job=${job}&kind=people&groups=red${query}`)).data.length;
        assert.equal(red, expected.filter((task) => (groupsOf[task] as readonly string[]).includes('red')).length);
      }
      for (const [who, task] of pairs)
        for (const path of [`tasks/${job}.${task}.1?${query}`, `jobs/${job}/tasks/${task}?${query}`]) {
          const answer = await as(who)('GET', `${om}/${path}`);
          if (mayDo(who, task)) ok(answer);
          else {
            const absent = await as(who)(
              'GET',
              `${om}/${path.replace(`${task}.1`, 'none.1').replace(/red|blue|both/, 'none')}`,
            );
            refused(answer, 404);
            assert.equal(answer.body.message, absent.body.message, `${who} ${path}`);
          }
        }
    };
    await look('');
    ok(await service.ask('POST', `${om}/jobs/cancel`, { jobIds: [job] }));
    await look(`&asOf=${then}`);
    // A task that has ended is shown to those who might have done it.
    for (const [who, task] of pairs)
      assert.equal((await as(who)('GET', `${om}/jobs/${job}/tasks/${task}`)).status, mayDo(who, task) ? 200 : 404);
  });

  it('are claimed, released and ended by members and admins alone, and the event says by whom', async () => {
    for (const who of names) {
      const job = await start('Of groups');
      const ask = (task: Named, what: string, body: object = {}) =>
        as(who)('POST', `${om}/tasks/${job}.${task}.1/${what}`, body);
      const mayAct = (task: Named) => mayDo(who, task) && who !== 'rita';
      const status = (task: Named): number => {
        if (who === 'rita') return 403;
        return mayAct(task) ? 200 : 404;
      };
      for (const task of all)
        for (const [what, body] of [
          ['claim', {}],
          ['release', {}],
          ['finish', { result: 'success', data: { by: who } }],
          ['finish', { result: 'success', data: { by: who } }],
        ] as const)
          assert.equal((await ask(task, what, body)).status, status(task), `${who} ${what} ${task}`);
      const done = all.filter(mayAct);
      const events = await logged(job);
      for (const [topic, member] of [
        ['taskClaimed', 'worker'],
        ['taskFinished', 'outgoing'],
      ] as const) {
        const ofTasks = events.filter(({ topic: of, data }: Json) => of === topic && all.includes(data.task));
        assert.deepEqual(
          ofTasks.map(({ data }: Json) => data.task),
          done,
        );
        for (const { data, metadata } of ofTasks as Json[]) {
          assert.equal(metadata.actor.username, who);
          assert.deepEqual(data[member], member === 'worker' ? who : { by: who });
        }
      }
      const { status: now } = await jobNow(job);
      assert.equal(now, done.length === all.length ? 'complete' : 'running');
      if (now === 'running') ok(await service.ask('POST', `${om}/jobs/cancel`, { jobIds: [job] }));
    }
  });

  it("are nobody else's by a claim, by an older run, or by an answer in the place of one that has ended", async () => {
    const tasks = {
      late: { ...person({ groups: ['red'] }), timeLimit: { seconds: 1 } },
      ask: person({ groups: ['red'] }),
    };
    await save('Late', tasks, ['start -> late', 'late -> ask', 'ask -> end', 'late <-failure- ask']);
    const job = await start('Late');
    await until(async () => (await jobNow(job)).status === 'error', 'the time limit');
    const answer = { result: 'success', outgoing: { by: 'me' } };
    for (const who of ['ben', 'cleo'] as const)
      refused(await as(who)('POST', `${om}/jobs/${job}/tasks/late/retry`, answer), 404);
    assert.equal((await jobNow(job)).tasks.late.run, 1);
    ok(await as('anna')('POST', `${om}/jobs/${job}/tasks/late/retry`, answer));
    ok(await as('anna')('POST', `${om}/tasks/${job}.ask.1/claim`));
    for (const who of ['ben', 'cleo'] as const)
      for (const [what, body] of [
        ['claim', {}],
        ['release', {}],
        ['heartbeat', { claim: 1 }],
        ['finish', { result: 'success', claim: 1 }],
      ] as const)
        refused(await as(who)('POST', `${om}/tasks/${job}.ask.1/${what}`, body), 404);
    // It goes back: both tasks are as if they had not run, and their former runs are as closed as before.
    ok(await as('anna')('POST', `${om}/tasks/${job}.ask.1/finish`, { result: 'failure' }));
    for (const run of ['ask.1', 'late.2', 'late.3'])
      for (const who of ['ben', 'cleo'] as const) {
        refused(await as(who)('GET', `${om}/tasks/${job}.${run}`), 404);
        refused(await as(who)('POST', `${om}/tasks/${job}.${run}/finish`, { result: 'success' }), 404);
      }
    ok(await service.ask('POST', `${om}/jobs/cancel`, { jobIds: [job] }));
  });

  it('are refused to those who may do them, too, while another person has claimed them', async () => {
    const job = await start('Of groups');
    const ask = (who: Person, what: string, body: object = {}) =>
      as(who)('POST', `${om}/tasks/${job}.both.1/${what}`, body);
    ok(await ask('anna', 'claim'));
    ok(await ask('anna', 'claim'));
    refused(await ask('ben', 'claim'), 409, /Another person/);
    refused(await ask('ben', 'release'), 409);
    refused(await ask('ben', 'finish', { result: 'success' }), 409, /Another person/);
    ok(await ask('anna', 'release'));
    ok(await ask('ben', 'claim'));
    ok(await ask('admin', 'release'));
    refused(await ask('ben', 'finish', { result: 'error', error: 'x' }), 400, /result/);
    ok(await ask('ben', 'finish', { result: 'success' }));
    ok(await service.ask('POST', `${om}/jobs/cancel`, { jobIds: [job] }));
  });

  it('of a job that a person may not see are hidden whole: its tasks, runs, events and past', async () => {
    const automation = { componentType: 'workflows', componentName: 'Of groups', name: 'Hidden' };
    const gbac = { read: ['red'], write: ['red'] };
    ok(await service.ask('POST', `${om}/automations`, { ...automation, gbac }));
    const job = await start('Hidden');
    const then = await position();
    const paths = [`tasks/${job}.open.1`, `jobs/${job}/tasks/open`, `jobs/${job}`];
    for (const [who, status] of [
      ['anna', 200],
      ['ben', 404],
      ['cleo', 404],
    ] as const) {
      for (const path of [...paths, ...paths.map((one) => `${one}?asOf=${then}`)])
        assert.equal((await as(who)('GET', `${om}/${path}`)).status, status, `${who} ${path}`);
      assert.equal((await as(who)('GET', `/audit/resources/job/${job}`)).status, status);
      const { metadata } = ok(await as(who)('GET', `${om}/tasks?job=${job}`));
      assert.equal(metadata.total, status === 200 ? 3 : 0);
    }
    for (const who of ['ben', 'cleo'] as const)
      refused(await as(who)('POST', `${om}/tasks/${job}.open.1/finish`, { result: 'success' }), 404);
    ok(await service.ask('POST', `${om}/jobs/cancel`, { jobIds: [job] }));
  });

  it('show a form, which the data must fit; nobody else learns of its faults', async () => {
    const schema = { title: 'Vlan', type: 'object', required: ['vlan'], properties: { vlan: { type: 'integer' } } };
    ok(await service.ask('POST', '/json-forms/forms', { name: 'Vlan', schema }));
    const show = (name: string, app: string, incoming: object) => ({
      ...person({ groups: ['red'] }),
      ...{ name, app, variables: { incoming, outgoing: { export: `$var.job.${name}` } } },
    });
    const tasks = {
      stored: show('ShowJsonForm', 'JsonForms', { form_id: 'Vlan' }),
      made: show('RenderJsonSchema', 'JsonForms', { jsonSchema: '$var.job.schema' }),
      broken: show('RenderJsonSchema', 'JsonForms', { jsonSchema: { type: 'nothing' } }),
      look: ours('newVariable', { name: 'x', value: 1 }),
    };
    const edges = Object.keys(tasks).flatMap((task) => [`start -> ${task}`, `${task} -> end`]);
    await save('Forms', tasks, edges);
    const body = { workflow: 'Forms', options: { variables: { schema } } };
    const { _id: job } = ok(await as('anna')('POST', `${om}/jobs/start`, body)).data;
    const finish = (who: Person, task: string, data?: unknown, result = 'success') =>
      as(who)('POST', `${om}/tasks/${job}.${task}.1/finish`, { result, ...(data === undefined ? {} : { data }) });
    for (const task of ['stored', 'made']) {
      assert.deepEqual(ok(await as('anna')('GET', `${om}/tasks/${job}.${task}.1`)).data.form.schema, schema);
      for (const data of [{ vlan: 'x' }, {}, 7, null, undefined]) {
        refused(await finish('anna', task, data), 400, /\/data/);
        refused(await finish('ben', task, data), 404);
      }
      assert.equal((await jobNow(job)).tasks[task].status, 'waiting');
      ok(await finish('anna', task, { vlan: 7 }));
    }
    refused(await finish('anna', 'broken', {}), 422, /schema cannot be used/);
    refused(await finish('ben', 'broken', {}), 404);
    ok(await finish('anna', 'broken', undefined, 'failure'));
    const { variables, status } = await jobNow(job);
    assert.deepEqual([variables.ShowJsonForm, status], [{ vlan: 7 }, 'complete']);
  });
});
