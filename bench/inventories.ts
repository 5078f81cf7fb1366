import { type Findings, inTurn, milliseconds } from './compare.ts';
import { startService, temporary } from './processes.ts';
import { ask } from './requests.ts';
import { ready } from './service.ts';

const base = '/inventory_manager/v1';
const changed = 1000;
const perRequest = 10_000;
const lists = 20;
const stranger = { user: 'stranger', password: 'a long enough password' };

/** Nodes of an inventory, one of ten of them with the tag core. */
export const nodesOf = (inventory: string, from: number, count: number, round = 0) =>
  Array.from({ length: count }, (_, n) => ({
    name: `${inventory}-${String(from + n).padStart(6, '0')}`,
    tags: [(from + n) % 10 === 0 ? 'core' : 'access'],
    attributes: { host: '192.0.2.10', protocol: 'lab', round },
  }));

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** A service with two inventories of half of the devices each; `stranger` sees one of them. */
const serviceWith = async (devices: number) => {
  const service = await startService(await temporary());
  const { url } = service;
  await ready(url);
  const post = (path: string, body: object) => ask(url, 'POST', path, { body });
  await post('/authorization/groups', { name: 'ops' });
  await post('/authorization/accounts', {
    username: stranger.user,
    password: stranger.password,
    memberOf: ['operators'],
  });
  const fill = async (name: string, count: number): Promise<void> => {
    for (let from = 0; from < count; from += perRequest)
      await post(`${base}/inventories/${name}/nodes`, {
        nodes: nodesOf(name, from, Math.min(perRequest, count - from)),
      });
  };
  for (const [name, groups] of [
    ['open', []],
    ['closed', ['ops']],
  ] as const) {
    await post(`${base}/inventories`, { name, groups });
    await fill(name, devices / 2);
  }
  const options = { limit: 25, filter: { tags: ['core'], inventory: 'open' } };
  let round = 0;
  const startChanges = async (): Promise<void> => {
    await post(`${base}/inventories`, { name: 'changing', groups: ['ops'] });
    await fill('changing', devices);
  };
  return {
    service,
    startChanges,
    list: () =>
      timed(async () => {
        for (let n = 0; n < lists; n++)
          await ask(url, 'POST', '/configuration_manager/devices', { login: stranger, body: { options } });
      }),
    change: () => {
      round++;
      const nodes = nodesOf('changing', 0, changed, round);
      return timed(() => post(`${base}/inventories/changing/nodes`, { nodes, overwrite: true }));
    },
  };
};

/** (inventories) The number of devices as a cost of lists of a caller who sees half of them, and of changed nodes. */
export const inventories = async (): Promise<Findings> => {
  const [small, large] = [await serviceWith(1000), await serviceWith(100_000)];
  const listing = await inTurn('inventories, lists', { small: small.list, large: large.list });
  await small.startChanges();
  await large.startChanges();
  const changing = await inTurn('inventories, changes', { small: small.change, large: large.change });
  await small.service.stop();
  await large.service.stop();
  return {
    comparisons: [
      {
        what: '(inventories) 20 lists of 25 of 100,000 devices by tag and inventory, of a caller who sees half',
        comparedWith: 'of 1,000 devices',
        ours: listing.large,
        theirs: listing.small,
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: '(inventories) 1,000 nodes replaced in an inventory of 100,000',
        comparedWith: 'in one of 1,000',
        ours: changing.large,
        theirs: changing.small,
        shown: milliseconds,
        goal: { most: 2 },
      },
    ],
  };
};
