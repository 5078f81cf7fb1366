import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryCluster } from '../../support/cluster.ts';
import { ok } from '../../support/people.ts';
import { until } from '../../support/until.ts';

const manager = '/configuration_manager';

/** A controller whose device takes a line with each change. `most`: how many changes it was sent at once. */
const controllerOf = async () => {
  const lines = ['hostname pe'];
  let [underWay, most] = [0, 0];
  const server = createServer(async (request, response) => {
    const isChange = request.method === 'POST';
    const body = await text(request);
    if (isChange) {
      most = Math.max(most, ++underWay);
      // Another change would come meanwhile, if it might.
      await pause(50);
      lines.push(JSON.parse(body).config);
      underWay--;
    }
    const answer = isChange ? {} : { config: `${lines.join('\n')}\n` };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lines,
    most: () => most,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

describe('Two people who change one device at once, on two nodes,', function () {
  this.timeout(120_000);
  let cluster: Awaited<ReturnType<typeof memoryCluster>>;
  let controller: Awaited<ReturnType<typeof controllerOf>>;

  before(async () => {
    controller = await controllerOf();
    cluster = await memoryCluster({ OUTBOUND_ALLOW: '127.0.0.1' });
    await cluster.start();
  });
  after(async () => {
    await cluster?.remove();
    controller?.close();
  });

  it('wait for each other, and each has the difference of its own change', async () => {
    const { log, other, nodes } = cluster;
    const adapter = {
      name: 'campus',
      type: 'http',
      properties: { baseUrl: controller.url },
      devices: [{ name: 'pe' }],
    };
    const { headers } = await log.ask('POST', `${manager}/adapters`, adapter);
    const seen = { 'X-Min-Position': headers.get('x-event-position') ?? '' };
    const vlans = [1, 2, 3, 4, 5, 6];
    await Promise.all(
      vlans.map(async (vlan, n) => {
        const body = { config: { config: `vlan ${vlan}` }, options: { backup: true } };
        ok(await nodes[n % 2]!.ask('POST', `${manager}/devices/pe/configuration`, body, seen));
      }),
    );
    assert.equal(controller.most(), 1, 'one change is sent at a time');
    let diffs: readonly string[] = [];
    await until(async () => {
      const { results } = ok(await other.ask('GET', '/audit/events?topic=deviceConfigurationApplied'));
      diffs = results.map(({ data }: { data: { diff: string } }) => data.diff);
      return diffs.length === vlans.length;
    }, 'all changes are in the log');
    const added = diffs.map((diff) => diff.match(/^[+-](?![+-]).*$/gm) ?? []);
    assert.deepEqual(
      added.flat().toSorted(),
      controller.lines
        .slice(1)
        .map((line) => `+${line}`)
        .toSorted(),
    );
    assert.deepEqual(
      added.map(({ length }) => length),
      vlans.map(() => 1),
    );
  });
});
