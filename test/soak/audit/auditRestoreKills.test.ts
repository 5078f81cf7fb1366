import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { positionOf } from '../../support/hostile.ts';
import { cannotKill, killedAtFsync } from '../../support/killing.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

/** Every n-th fsync is tried; all with SOAK_ROUNDS. */
const stride = process.env.SOAK_ROUNDS ? 1 : 5;
const automations = '/operations-manager/automations';
const inventories = '/inventory_manager/v1/inventories';

type Restoring = { readonly kind: string; readonly id: string; readonly position: number };

(cannotKill ? describe.skip : describe)(`restoring: kill -9 at every fsync${cannotKill}`, function () {
  this.timeout(3_600_000);
  let folder: string;
  let server: Server | undefined;
  let restorings: readonly Restoring[];
  before(async () => {
    folder = temporaryFolder();
    const base = join(folder, 'base');
    server = await startServer(base);
    const made = async (path: string, body: unknown) => {
      const answer = ok((await server?.ask('POST', path, body)) ?? assert.fail());
      return answer.data;
    };
    const { _id: automation } = await made(automations, { name: 'Backup' });
    for (const name of ['one', 'two'])
      await made('/operations-manager/triggers', {
        name,
        type: 'manual',
        enabled: true,
        actionType: 'automations',
        actionId: automation,
        formId: null,
        formData: null,
      });
    const { _id: inventory } = await made(inventories, { name: 'Branches' });
    ok(await server.ask('POST', `${inventories}/${inventory}/nodes`, { nodes: [{ name: 'r1' }, { name: 'r2' }] }));
    const position = await positionOf({ folder: base });
    ok(await server.ask('DELETE', `${automations}/${automation}`));
    ok(await server.ask('DELETE', `/inventory_manager/v1/nodes/clear/${inventory}`));
    ok(await server.ask('POST', `${inventories}/${inventory}/nodes`, { nodes: [{ name: 'r3' }] }));
    restorings = [
      { kind: 'automation', id: automation, position },
      { kind: 'inventory', id: inventory, position },
    ];
    await server.stop();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** Which resources are as before the restoring and which as after it; undefined if one is neither. */
  const stateOf = async ({ ask }: Server): Promise<readonly ('old' | 'new' | undefined)[]> => {
    const [automation, inventory] = restorings;
    const exported = await ask('GET', `${automations}/${automation?.id}/export`);
    const triggers = exported.body.data?.triggers.length;
    const { results } = ok(await ask('GET', `${inventories}/${inventory?.id}/nodes?sort=name`));
    const nodes = results.map(({ name }: { name: string }) => name).join();
    return [
      exported.status === 404 ? 'old' : triggers === 2 ? 'new' : undefined,
      nodes === 'r3' ? 'old' : nodes === 'r1,r2' ? 'new' : undefined,
    ];
  };

  it('leaves the old state or the new one, and the new one if it was answered', async () => {
    const data = join(folder, 'data');
    let rounds = 0;
    for (let [n, lived] = [1, false]; !lived; n += stride, rounds++) {
      rmSync(data, { recursive: true, force: true });
      cpSync(join(folder, 'base'), data, { recursive: true });
      server = await startServer(data, {}, killedAtFsync(n)).catch(() => undefined);
      const answered: boolean[] = [];
      for (const restoring of restorings)
        answered.push((await server?.ask('POST', '/audit/restore', restoring))?.status === 200);
      lived = answered.every(Boolean);
      await server?.stop('SIGKILL');
      const again = await startServer(data);
      server = again;
      let found = await stateOf(again);
      await until(async () => {
        found = await stateOf(again);
        return !found.includes(undefined);
      }, `a whole state after a kill at fsync ${n}`);
      answered.forEach((done, i) => {
        if (done) assert.equal(found[i], 'new', `${restorings[i]?.kind}, answered before the kill at fsync ${n}`);
      });
      for (const restoring of restorings) ok(await again.ask('POST', '/audit/restore', restoring));
      assert.deepEqual(await stateOf(again), ['new', 'new']);
      await again.stop();
      server = undefined;
    }
    assert.ok(rounds * stride > 6, `killed in ${rounds - 1} rounds only`);
    if (process.env.TEST_LOG) process.stderr.write(`${rounds} rounds\n`);
  });
});
