import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ask } from '../../support/clientProgram.ts';
import { steps } from '../../support/clientSteps.ts';
import { authorityAndServerInOne } from '../../support/earlierCertificate.ts';
import { fromSource } from '../../support/fromSource.ts';
import { type GrpcLog, openGrpcLog } from '../../support/grpcLog.ts';

const libraries = { '@eventstore/db-client': 'esdb', '@kurrent/kurrentdb-client': 'kurrentdb' };

for (const [name, protocol] of Object.entries(libraries)) {
  describe(`${name} can`, () => {
    let log: GrpcLog;
    let program: ChildProcess;
    let ended: Promise<unknown>;
    const start = (): ChildProcess =>
      fork(new URL('../../support/clientProgram.ts', import.meta.url), [name], {
        execArgv: fromSource(),
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      });
    const ask = async (step: string, to: GrpcLog): Promise<void> => {
      const urls = Object.fromEntries(
        ['writer', 'reader', 'nobody'].map((account) => [account, to.url(account).replace('esdb', protocol)]),
      );
      program.send({ step, urls } satisfies Ask);
      const [{ failure }] = await Promise.race([
        once(program, 'message'),
        ended.then(() => [{ failure: 'it has ended' }]),
      ]);
      assert.equal(failure, undefined, failure);
      assert.deepEqual(to.reported, []);
    };
    before(async () => {
      log = await openGrpcLog();
      program = start();
      ended = once(program, 'exit');
    });
    after(async () => {
      program.kill('SIGKILL');
      await ended;
      await log.close();
    });
    for (const step of Object.keys(steps)) it(step, () => ask(step, log));

    it('read a log whose certificate an earlier version made', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'earlier-'));
      const { cert, key } = await authorityAndServerInOne();
      writeFileSync(join(folder, 'esdb-certificate.pem'), cert);
      writeFileSync(join(folder, 'esdb-key.pem'), key);
      const upgraded = await openGrpcLog({ folder });
      try {
        await ask('append and read', upgraded);
      } finally {
        await upgraded.close();
        rmSync(folder, { recursive: true });
      }
    });
  });
}
