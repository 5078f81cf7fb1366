import assert from 'node:assert/strict';
import { deleteAccount } from '../../../src/commands/authorization/accounts.ts';
import { accounts } from '../../../src/projections/authorization/accounts.ts';
import { groups } from '../../../src/projections/authorization/groups.ts';
import { bootstrap } from '../../../src/service/start.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';

describe('the first start', () => {
  const { log, node } = nodesOnLog();

  const start = async ({ handle }: TestNode, adminPassword?: string): Promise<string[]> => {
    const told: string[] = [];
    await bootstrap({ handle, adminPassword, tell: (line) => told.push(line) });
    return told;
  };
  const login = async ({ auth }: TestNode, password: string) =>
    (await auth.verify({ username: 'admin', password }, '10.0.0.1')).principal.actor;

  it('makes the account admin with the password that is set, and tells none', async () => {
    const one = await node();
    assert.deepEqual(await start(one, 'password of admin'), []);
    const { admin, groups: own } = await login(one, 'password of admin');
    assert.deepEqual([admin, own], [true, ['admins']]);
    assert.deepEqual(
      (await one.tools.query(groups)).map(({ name }) => name),
      ['admins', 'operators', 'readers'],
    );
  });
  it('makes up a password otherwise, and tells it once', async () => {
    const one = await node();
    const told = await start(one);
    assert.equal(told.length, 1);
    await login(one, /password (\S+);/.exec(told[0]!)![1]!);
    assert.deepEqual(await start(one), []);
  });
  it('of two processes at once makes one account, and only the password that counts is told', async () => {
    const [one, two] = [await node(), await node()];
    const told = (await Promise.all([start(one), start(two)])).flat();
    assert.equal(told.length, 1);
    await two.catchUp();
    await login(two, /password (\S+);/.exec(told[0]!)![1]!);
    assert.equal((await two.tools.query(accounts)).length, 1);
    assert.equal((await two.tools.query(groups)).length, 3);
  });
  it('is over: later starts write nothing, and bring back no account that was deleted', async () => {
    const one = await node();
    await start(one, 'password of admin');
    await one.account('bob', { memberOf: ['admins'] });
    await one.command(deleteAccount, (await one.tools.find(accounts, 'admin'))!);
    const before = await log.store.head();
    const again = await node();
    await start(again, 'password of admin');
    assert.equal(await log.store.head(), before);
    assert.deepEqual(
      (await again.tools.query(accounts)).map(({ username }) => username),
      ['bob'],
    );
  });
});
