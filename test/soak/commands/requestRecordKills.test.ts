import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

describe('records of requests, of a service that is killed', function () {
  this.timeout(600_000);
  let folder: string;
  let server: Server | undefined;
  before(() => {
    folder = temporaryFolder();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** How many requests the log says were refused, and how many documents exported. */
  const recorded = async (): Promise<{ readonly denied: number; readonly exported: number }> => {
    const counts = { requestsDenied: 0, exported: 0 };
    for (const { topic, data } of await withLog(join(folder, 'events.db'), eventsIn))
      if (topic === 'requestsDenied' || topic === 'exported') for (const { count } of data.rows) counts[topic] += count;
    return { denied: counts.requestsDenied, exported: counts.exported };
  };

  it('lack what was counted since the last ten seconds were stored; SIGTERM loses nothing', async () => {
    const started = async (): Promise<Server> => {
      server = await startServer(folder);
      return server;
    };
    const path = '/operations-manager/automations';
    let { ask, stop } = await started();
    const { _id } = ok(await ask('POST', path, { name: 'a' })).data;
    const happen = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++) {
        assert.equal((await ask('GET', path, undefined, { Authorization: 'Bearer none' })).status, 401);
        ok(await ask('GET', `${path}/${_id}/export`));
      }
    };
    await happen(5);
    // Nothing else makes the service store them: they are stored when ten seconds are over.
    await until(async () => {
      const { denied, exported } = await recorded();
      return (denied === 5 && exported === 5) || pause(200, false);
    }, 'the numbers of the first ten seconds');
    await happen(3);
    await stop('SIGKILL');
    const { denied, exported } = await recorded();
    assert.ok(denied >= 5 && denied <= 8 && exported >= 5 && exported <= 8, `${denied} ${exported}`);

    ({ ask, stop } = await started());
    await happen(4);
    assert.equal(await stop('SIGTERM'), 0);
    assert.deepEqual(await recorded(), { denied: denied + 4, exported: exported + 4 });
    server = undefined;
  });
});
