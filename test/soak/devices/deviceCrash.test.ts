import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtInOf } from '../../support/builtIn.ts';
import { memoryCluster, note } from '../../support/cluster.ts';
import { ok } from '../../support/people.ts';
import { until } from '../../support/until.ts';

const manager = '/configuration_manager';
const om = '/operations-manager/jobs';
const area = '/inventory_manager/v1/inventories';

/** The name under which the node that has the log claims jobs. */
const nodeWithLog = 'automation-platform with the log';

type Killed = 'the runner' | 'the bystander';

/** A server that hears of each request, and may hold its answers from the n-th on, until they are let go. */
const heldServer = async (
  hear: (request: IncomingMessage) => unknown,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
) => {
  let holdFrom = Infinity;
  let seen = 0;
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      hear(request);
      if (++seen >= holdFrom) held.push(() => answer(request, response));
      else answer(request, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdFrom: (n: number): void => {
      [seen, holdFrom] = [0, n];
    },
    isHolding: (): boolean => held.length > 0,
    letGo: (): void => {
      holdFrom = Infinity;
      for (const go of held.splice(0)) go();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

describe('Jobs on devices on two processes, one of which is killed', function () {
  this.timeout(300_000);
  const isSoak = process.env.SOAK_ROUNDS !== undefined;
  const throttle = 3;
  const made: string[] = [];
  let cluster: Awaited<ReturnType<typeof memoryCluster>>;
  let controller: Awaited<ReturnType<typeof heldServer>>;
  let source: Awaited<ReturnType<typeof heldServer>>;
  let turn = 0;
  let position = 0;
  /** Asks one node after the other. Each shows what was answered before. */
  const ask = async (method: string, path: string, body?: unknown) => {
    for (;;) {
      const answer = await cluster.nodes[turn++ % 2]!.ask(method, path, body, { 'X-Min-Position': `${position}` });
      if (answer.status === 0 || answer.status >= 500) continue;
      position = Math.max(position, Number(answer.headers.get('x-event-position') ?? 0));
      return answer;
    }
  };
  const jobs = builtInOf(ask);
  /** Kills the node that runs the job, or the other one, while a request is held; then the job, once it has ended. */
  const endOf = async (jobId: string, server: typeof source, killed: Killed) => {
    await until(server.isHolding, 'a request is held');
    const claim = async () => (await cluster.log.ask('GET', `${om}/${jobId}`)).body?.data?.claim;
    await until(async () => Boolean(await claim()), 'the claim is shown');
    const hasLog = (await claim()).worker === nodeWithLog;
    const node = hasLog === (killed === 'the runner') ? cluster.log : cluster.other;
    await node.kill();
    await node.start();
    server.letGo();
    note(`${killed} was killed: ${node.name}`);
    const job = await jobs.inState(jobId, 'complete', 'error');
    // The other node may show less than the one that said so.
    await until(
      async () =>
        (await Promise.all(cluster.nodes.map(({ ask }) => ask('GET', `${om}/${jobId}`)))).every(
          ({ body }) => body?.data?.status === job.status,
        ),
      'both nodes show the end',
    );
    return job;
  };

  const pageOfSource = 400;
  const nodesOfSource = 2300;
  before(async () => {
    controller = await heldServer(
      ({ url = '' }) => made.push(url.split('/')[2] ?? ''),
      (_, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'),
    );
    source = await heldServer(
      () => undefined,
      (request, response) => {
        const url = new URL(request.url ?? '', `http://${request.headers.host}`);
        const offset = Number(url.searchParams.get('offset'));
        const length = Math.min(pageOfSource, nodesOfSource - offset);
        const results = Array.from({ length }, (_, n) => ({
          id: offset + n,
          name: `n${offset + n}`,
          custom_fields: { notes: 'x'.repeat(3000) },
        }));
        url.searchParams.set('offset', String(offset + length));
        const next = offset + length < nodesOfSource ? url.href : null;
        const page = { count: nodesOfSource, next, previous: null, results };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(page));
      },
    );
    cluster = await memoryCluster({ OUTBOUND_ALLOW: '127.0.0.1' });
    await cluster.start();
  });
  after(async () => {
    await cluster?.remove();
    controller?.close();
    source?.close();
  });

  const scenes = [
    { killed: 'the runner', kill: 4, more: { stopAfterFailures: 1 } },
    ...(isSoak ? [1, 5, 10] : []).flatMap((kill) =>
      (['the runner', 'the bystander'] as const).map((killed) => ({ killed, kill, more: {} })),
    ),
  ] as const;
  for (const [n, { killed, kill, more }] of scenes.entries())
    it(`a change of 10 devices, ${killed} killed at call ${kill}: each row is true, and nothing is sent twice`, async () => {
      const names = Array.from({ length: 10 }, (_, at) => `sw-${n}-${at}`);
      const adapter = { name: `farm-${n}`, type: 'http', properties: { baseUrl: controller.url } };
      ok(await ask('POST', `${manager}/adapters`, { ...adapter, devices: names.map((name) => ({ name })) }));
      made.length = 0;
      controller.holdFrom(kill);
      const body = { devices: names, config: 'set a', throttle, ...more };
      const { jobId } = ok(await ask('POST', `${manager}/changes`, body));
      await endOf(jobId, controller, killed);
      const { totals, list } = ok(await ask('GET', `${manager}/changes/${jobId}?limit=10`));
      note(JSON.stringify(totals));
      const { sent, unknown, notSent } = totals;
      assert.deepEqual([sent + unknown + notSent, list.length], [10, 10]);
      assert.ok(unknown <= throttle);
      if (killed === 'the runner') assert.ok(unknown > 0, 'the calls that were held have no outcome');
      assert.equal(notSent > 0, 'stopAfterFailures' in more);
      for (const { device, status } of list) {
        const times = made.filter((one) => one === device).length;
        const isTrue = { sent: times === 1, unknown: times <= 1, notSent: times === 0 }[status as 'sent'];
        assert.ok(isTrue, `${device} is ${status}, and was sent it ${times} times`);
      }
    });

  for (const killed of isSoak ? (['the runner', 'the bystander'] as const) : (['the runner'] as const))
    it(`a sync with large events, ${killed} killed while it reads: the nodes of the source, once`, async () => {
      const { _id } = ok(await ask('POST', area, { name: `Campus without ${killed}` })).result;
      source.holdFrom(3);
      const body = { source: { type: 'netbox', url: source.url, token: 'a5f0c7d9e1b3' } };
      const { jobId } = ok(await ask('POST', `${area}/${_id}/sync`, body));
      const { status, variables, error } = await endOf(jobId, source, killed);
      assert.equal(status, 'complete', JSON.stringify(error));
      assert.deepEqual(variables.counts, { added: nodesOfSource, changed: 0, removed: 0, leftOut: 0 });
      const events = ok(await ask('GET', `/audit/events?limit=1000&resource=inventory/${_id}`)).results;
      const added = events.filter(({ topic }: any) => topic === 'nodesAdded');
      assert.equal(added.length, Math.ceil(nodesOfSource / 1000));
    });
});
