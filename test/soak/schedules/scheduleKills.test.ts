import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { jobOfInstant } from '../../../src/commands/operations-manager/triggerSchedules.ts';
import { authorityFile } from '../../../src/secrets/certificate.ts';
import type { Recorded } from '../../../src/store/event.ts';
import { auditKey } from '../../support/auditKey.ts';
import { freePort } from '../../support/freePort.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { outcomeOf, ranOf } from '../../support/scheduleOutcome.ts';
import { minute, second } from '../../support/scheduling.ts';
import { adminPassword } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const settings = { SECRET_KEY: 'the same key on every node', AUDIT_KEY: auditKey };

type Schedules = {
  /** The instant of all of them but `often`. */
  readonly instant: number;
  readonly ids: { readonly [name in 'last' | 'none' | 'homeless' | 'often']: string };
};

/** Schedules that are disabled, and due at once when somebody enables them. */
const makeSchedules = async ({ ask }: Server): Promise<Schedules> => {
  const { _id: actionId } = ok(await ask('POST', `${om}/automations`, { name: 'a' })).data;
  const instant = Date.now() - 50 * second;
  const make = async (name: string, more: object): Promise<string> => {
    const body = {
      name,
      type: 'schedule',
      enabled: false,
      actionType: 'automations',
      actionId,
      formId: null,
      formData: null,
      firstRunAt: instant,
      processMissedRuns: 'last',
      ...more,
    };
    return ok(await ask('POST', `${om}/triggers`, body)).data._id;
  };
  const form = { name: 'f', schema: { title: 'f', type: 'object', properties: { vlan: { type: 'integer' } } } };
  ok(await ask('POST', '/json-forms/forms', form));
  const ids = {
    last: await make('last', {}),
    none: await make('none', { processMissedRuns: 'none' }),
    homeless: await make('homeless', { formId: 'f', formData: { vlan: 1 } }),
    often: await make('often', { firstRunAt: instant, repeatInterval: second }),
  };
  const changed = { ...form.schema, required: ['vlan'] };
  ok(await ask('PUT', '/json-forms/forms', { options: { name: 'f', schema: changed } }));
  return { instant, ids };
};

/** Enables all, however often the service dies meanwhile. */
const enabling = async ({ ask }: Pick<Server, 'ask'>, ids: Schedules['ids']): Promise<boolean> => {
  for (const id of Object.values(ids)) {
    const { status, text } = await ask('PATCH', `${om}/triggers/${id}`, { enabled: true });
    if (status === 0 || status === 503) return false;
    assert.equal(status, 200, text);
  }
  return true;
};

const loggedIn = (folder: string) => withLog(join(folder, 'events.db'), eventsIn);

/** Whether everything has happened that must happen. */
const isDone = (events: readonly Recorded<any>[], { ids }: Schedules): boolean => {
  const [last, homeless, often] = [ids.last, ids.homeless, ids.often].map((id) => outcomeOf(events, id));
  const fired = often?.decided.filter(({ topic }) => topic === 'scheduleFired').length ?? 0;
  return last?.jobs.length === 1 && homeless?.refused.length === 1 && fired >= 3 && often?.jobs.length === fired;
};

/** That it happened as it is written in docs/schedules.md, and once. */
const check = (events: readonly Recorded<any>[], { instant, ids }: Schedules): void => {
  const { last, none, homeless, often } = ids;
  const fired = (id: string, at: number) => ['scheduleFired', { instant: at, job: jobOfInstant(id, at) }];
  const decided = (id: string) => outcomeOf(events, id).decided.map(({ topic, data }) => [topic, data]);
  assert.deepEqual(decided(last), [fired(last, instant)]);
  // It begins when it is enabled: nothing before that is missed, and its only instant is too late to run.
  assert.deepEqual(decided(none), []);
  assert.deepEqual(decided(homeless), [fired(homeless, instant)]);
  const { refused, jobs } = outcomeOf(events, homeless);
  assert.deepEqual(
    refused.map(({ data }) => [data.reason, data.count, data.instant]),
    [['form', 1, instant]],
  );
  assert.deepEqual(jobs, []);
  assert.deepEqual(outcomeOf(events, none).jobs, []);
  // All instants of the one that runs every second are settled, each once.
  const { decided: settled } = outcomeOf(events, often);
  const ran = ranOf(settled, settled[0]?.data.first ?? settled[0]?.data.instant, second);
  const started = outcomeOf(events, often).jobs.map(({ data }) => data.instant);
  assert.deepEqual(started, ran.slice(0, started.length));
  // The stop at the end may leave the job of the last run to the next start.
  assert.ok(ran.length - started.length <= 1, `${started} of ${ran}`);
};

(cannotKill ? describe.skip : describe)(`Schedules: kill -9 at every fsync${cannotKill}`, function () {
  this.timeout(3_600_000);
  let folder: string;
  let made: Schedules;
  before(async () => {
    folder = temporaryFolder();
    const server = await startServer(join(folder, 'base'), settings);
    made = await makeSchedules(server);
    await server.stop();
    await until(async () => Date.now() > made.instant + minute + second || pause(100, false), 'a minute to pass');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const killing = async (others: (port: string, data: string) => Promise<readonly Server[]>): Promise<void> => {
    const data = join(folder, 'data');
    const done = async (): Promise<boolean> => isDone(await loggedIn(data), made) || pause(50, false);
    let [port, beside]: [string, readonly Server[]] = ['', []];
    const end = async (): Promise<void> => {
      for (const one of beside) await one.stop();
      beside = [];
    };
    try {
      await sweepServiceKills({
        folder,
        settings: async () => {
          port = String(await freePort());
          return { ...settings, ESDB_PORT: port };
        },
        use: async (killed) => {
          beside = await others(port, data).catch(() => []);
          if (!(await enabling(killed, made.ids))) return false;
          return Promise.race([
            until(done, 'the outcome of the model').then(() => true),
            killed.ended.then(() => false),
          ]);
        },
        look: async (next) => {
          assert.ok(await enabling(next, made.ids));
          await until(done, 'the outcome of the model');
          await end();
          await next.stop();
          check(await loggedIn(data), made);
        },
      });
    } finally {
      await end();
    }
  };

  it('settles each instant once on one node', async () => {
    await killing(async () => []);
  });

  it('settles each instant once on two nodes that both decide, of which one starts the jobs', async () => {
    await killing(async (port, data) => {
      const url = `esdb://admin:${encodeURIComponent(adminPassword)}@localhost:${port}?tlsCAFile=${authorityFile(data)}`;
      const other = join(folder, 'other');
      rmSync(other, { recursive: true, force: true });
      return [await startServer(other, { ...settings, EVENTSTORE_URL: url })];
    });
  });
});
