import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTriggers, publishing } from '../../support/eventTriggerPrograms.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { startServer, temporaryFolder } from '../../support/process.ts';
import { expectedOf, sortedOutcome } from '../../support/triggering.ts';
import { until } from '../../support/until.ts';

const loggedIn = (folder: string) => withLog(join(folder, 'events.db'), eventsIn);

(cannotKill ? describe.skip : describe)(`event triggers: kill -9 at every fsync${cannotKill}`, function () {
  this.timeout(3_600_000);
  let folder: string;
  let accounts: readonly string[];
  before(async () => {
    folder = temporaryFolder();
    const server = await startServer(join(folder, 'base'));
    accounts = await makeTriggers(server);
    await server.stop();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('leaves what the model says', async () => {
    const data = join(folder, 'data');
    const isDone = async (): Promise<boolean> => {
      const events = await loggedIn(data);
      const { jobs, refused } = expectedOf(events, accounts);
      const found = sortedOutcome(events);
      const sum = (all: Record<string, number>) => Object.values(all).reduce((total, one) => total + one, 0);
      return jobs.length > 0 && found.jobs.length >= jobs.length && sum(found.refused) >= sum(refused);
    };
    await sweepServiceKills({
      folder,
      apart: () => 3,
      use: async ({ ask, ended }) =>
        (await publishing(ask, 3)) &&
        Promise.race([until(isDone, 'the outcome of the model').then(() => true), ended.then(() => false)]),
      look: async (next, _, n) => {
        assert.ok(await publishing(next.ask, 3));
        await until(isDone, 'the outcome of the model');
        await next.stop();
        const events = await loggedIn(data);
        assert.deepEqual(sortedOutcome(events), expectedOf(events, accounts), `killed at fsync ${n}`);
      },
    });
  });
});
