import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { positionOf } from '../../support/hostile.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

const automations = '/operations-manager/automations';
const inventories = '/inventory_manager/v1/inventories';

type Restoring = { readonly kind: string; readonly id: string; readonly position: number };

(cannotKill ? describe.skip : describe)(`restoring: kill -9 at every fsync${cannotKill}`, function () {
  this.timeout(3_600_000);
  let folder: string;
  let restorings: readonly Restoring[];
  before(async () => {
    folder = temporaryFolder();
    const base = join(folder, 'base');
    const server = await startServer(base);
    const made = async (path: string, body: unknown) => {
      const answer = ok(await server.ask('POST', path, body));
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
  after(() => rmSync(folder, { recursive: true, force: true }));

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
    let answered: boolean[] = [];
    await sweepServiceKills({
      folder,
      use: async ({ ask }) => {
        answered = [];
        for (const restoring of restorings)
          answered.push((await ask('POST', '/audit/restore', restoring)).status === 200);
        return answered.every(Boolean);
      },
      look: async (next, _, n) => {
        let found = await stateOf(next);
        await until(async () => {
          found = await stateOf(next);
          return !found.includes(undefined);
        }, `a whole state after a kill at fsync ${n}`);
        for (const [i, done] of answered.entries())
          if (done) assert.equal(found[i], 'new', `${restorings[i]?.kind}, answered before the kill at fsync ${n}`);
        for (const restoring of restorings) ok(await next.ask('POST', '/audit/restore', restoring));
        assert.deepEqual(await stateOf(next), ['new', 'new']);
        answered = [];
      },
    });
  });
});
