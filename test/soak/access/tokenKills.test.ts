import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';

const path = '/authorization/tokens';

describe(`tokens, and kill -9${cannotKill}`, function () {
  this.timeout(600_000);
  let folder: string;
  before(async function () {
    if (cannotKill) this.skip();
    folder = temporaryFolder();
    await (await startServer(join(folder, 'base'))).stop();
  });
  after(() => {
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  it('work once they are made, and never again once they are ended', async () => {
    type Token = { readonly id: string; readonly token: string; isEnded: boolean };
    let tokens: Token[] = [];
    const statusBy = async (server: Server, { token }: Token): Promise<number> =>
      (await server.ask('GET', '/whoami', undefined, { Authorization: `Bearer ${token}` })).status;

    await sweepServiceKills({
      folder,
      use: async (server) => {
        tokens = [];
        for (const name of ['one', 'two', 'three']) {
          const { status, body } = await server.ask('POST', path, { name });
          if (status !== 200) return false;
          const made: Token = { ...body.data, isEnded: false };
          tokens.push(made);
          // Its use is stored, too.
          if ((await statusBy(server, made)) !== 200) return false;
          if (name === 'two') continue;
          if ((await server.ask('DELETE', `${path}/${made.id}`)).status !== 200) return false;
          made.isEnded = true;
        }
        return true;
      },
      look: async (server, isDone) => {
        for (const [at, made] of tokens.entries()) {
          const status = await statusBy(server, made);
          // The answer to the request that was under way when the service died is missing.
          const isOpen = !isDone && at === tokens.length - 1;
          if (made.isEnded) assert.equal(status, 401);
          else if (isOpen) assert.ok([200, 401].includes(status), String(status));
          else assert.equal(status, 200);
        }
        const { results } = ok(await server.ask('GET', path));
        for (const { id, isEnded } of tokens)
          if (isEnded) assert.ok(!results.some((one: { readonly id: string }) => one.id === id));
      },
    });
  });
});
