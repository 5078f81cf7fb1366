import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTriggers, publishing } from '../../support/eventTriggerPrograms.ts';
import { cannotKill, killedAtFsync } from '../../support/killing.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { expectedOf, sortedOutcome } from '../../support/triggering.ts';
import { until } from '../../support/until.ts';

/** Every n-th fsync is tried; all with SOAK_ROUNDS. */
const stride = process.env.SOAK_ROUNDS ? 1 : 3;

const loggedIn = (folder: string) => withLog(join(folder, 'events.db'), eventsIn);

(cannotKill ? describe.skip : describe)(`event triggers: kill -9 at every fsync${cannotKill}`, function () {
  this.timeout(3_600_000);
  let folder: string;
  let accounts: readonly string[];
  let server: Server | undefined;
  before(async () => {
    folder = temporaryFolder();
    server = await startServer(join(folder, 'base'));
    accounts = await makeTriggers(server);
    await server.stop();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('leaves what the model says', async () => {
    const data = join(folder, 'data');
    const isDone = async (): Promise<boolean> => {
      const events = await loggedIn(data);
      const { jobs, refused } = expectedOf(events, accounts);
      const found = sortedOutcome(events);
      const sum = (all: Record<string, number>) => Object.values(all).reduce((total, one) => total + one, 0);
      return jobs.length > 0 && found.jobs.length >= jobs.length && sum(found.refused) >= sum(refused);
    };
    let rounds = 0;
    for (let [n, lived] = [1, false]; !lived; n += stride) {
      rmSync(data, { recursive: true, force: true });
      cpSync(join(folder, 'base'), data, { recursive: true });
      server = await startServer(data, {}, killedAtFsync(n)).catch(() => undefined);
      const published = server && (await publishing(server.ask, 3));
      if (server && published) {
        const dead = server.ended.then(() => true);
        await Promise.race([until(isDone, 'the outcome of the model'), dead]);
        lived = server.child.exitCode === null && server.child.signalCode === null;
        await server.stop();
      }
      if (!lived) {
        await server?.stop('SIGKILL');
        server = await startServer(data);
        assert.ok(await publishing(server.ask, 3));
        await until(isDone, 'the outcome of the model');
        await server.stop();
      }
      server = undefined;
      const events = await loggedIn(data);
      assert.deepEqual(sortedOutcome(events), expectedOf(events, accounts), `killed at fsync ${n}`);
      rounds++;
    }
    // At the start alone there are four.
    assert.ok(rounds * stride > 6, `killed in ${rounds - 1} rounds only`);
    if (process.env.TEST_LOG) process.stderr.write(`${rounds} rounds\n`);
  });
});
