import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtInOf } from '../../support/builtIn.ts';
import { memoryCluster, note } from '../../support/cluster.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

const manager = '/configuration_manager';
const om = '/operations-manager/jobs';
const area = '/inventory_manager/v1/inventories';

/** The name under which the node that has the log claims jobs. */
const nodeWithLog = 'automation-platform with the log';

/** A server that hears of each request, and may hold its answers from the n-th on, until they are let go. */
const heldServer = async (
  hear: (request: IncomingMessage) => unknown,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
) => {
  let holdFrom = Infinity;
  let seen = 0;
  const held: { readonly url: string; readonly answer: () => unknown }[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      hear(request);
      if (++seen >= holdFrom) held.push({ url: request.url ?? '', answer: () => answer(request, response) });
      else answer(request, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdFrom: (n: number): void => {
      [seen, holdFrom] = [0, n];
    },
    /** True if it holds a request of an address with this part. */
    isHolding: (part = ''): boolean => held.some(({ url }) => url.includes(part)),
    letGo: (): void => {
      holdFrom = Infinity;
      for (const one of held.splice(0)) one.answer();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

type Row = { readonly device: string; readonly status: 'sent' | 'unknown' | 'notSent' };

/** Asserts that each row says how often its device was sent the change: `made` has the devices in the order of the calls. */
const areTrue = (rows: readonly Row[], made: readonly string[]): void => {
  for (const { device, status } of rows) {
    const times = made.filter((one) => one === device).length;
    const isTrue = { sent: times === 1, unknown: times <= 1, notSent: times === 0 }[status];
    assert.ok(isTrue, `${device} is ${status}, and was sent it ${times} times`);
  }
};

const isSoak = process.env.SOAK_ROUNDS !== undefined;
const throttle = 3;
/** A job changes so many devices. */
const many = 50;

/** A controller that takes everything; `made` has the devices in the order of the calls. */
const heldController = async (made: string[]) =>
  heldServer(
    ({ url = '' }) => made.push(url.split('/')[2] ?? ''),
    (_, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'),
  );

describe('A change of 50 devices on one process', function () {
  this.timeout(900_000);
  const made: string[] = [];
  let folder: string;
  let server: Server;
  let controller: Awaited<ReturnType<typeof heldServer>>;
  const start = async (): Promise<void> => {
    server = await startServer(folder, { OUTBOUND_ALLOW: '127.0.0.1' });
  };
  before(async () => {
    folder = temporaryFolder();
    controller = await heldController(made);
    await start();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    controller?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const calls = isSoak ? Array.from({ length: many }, (_, n) => n + 1) : [2, many - 1];
  for (const call of calls)
    it(`that is killed at call ${call}: each row is true, nothing is sent twice`, async () => {
      const devices = Array.from({ length: many }, (_, at) => `sw-${call}-${at}`);
      const adapter = { name: `farm-${call}`, type: 'http', properties: { baseUrl: controller.url, timeout: 60_000 } };
      ok(await server.ask('POST', `${manager}/adapters`, { ...adapter, devices: devices.map((name) => ({ name })) }));
      made.length = 0;
      controller.holdFrom(call);
      const { jobId } = ok(await server.ask('POST', `${manager}/changes`, { devices, config: 'set a', throttle }));
      await until(() => made.length >= Math.min(call + throttle - 1, many), 'calls are held');
      await server.stop('SIGKILL');
      controller.letGo();
      await start();
      await builtInOf(server.ask).inState(jobId, 'complete', 'error');
      const { totals, list } = ok(await server.ask('GET', `${manager}/changes/${jobId}?limit=${many}`));
      assert.deepEqual([totals.sent + totals.unknown, list.length], [many, many]);
      assert.ok(totals.unknown > 0 && totals.unknown <= throttle, `${totals.unknown} are unknown`);
      areTrue(list, made);
    });
});

describe('Jobs on devices on two processes, one of which is killed', function () {
  this.timeout(300_000);
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
  /** True if the node with the log has claimed the job; undefined if nobody has. */
  const isWithLog = async (jobId: string): Promise<boolean | undefined> => {
    const claim = (await cluster.log.ask('GET', `${om}/${jobId}`)).body?.data?.claim;
    return claim ? claim.worker === nodeWithLog : undefined;
  };
  const restart = async (node: (typeof cluster)['log']): Promise<void> => {
    await node.kill();
    await node.start();
    note(`killed: ${node.name}`);
  };
  /** The job once it has ended, and both nodes show it. */
  const endOf = async (jobId: string) => {
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
  /** Each node begins so many jobs, of those that start from now on. */
  const limitStarts = async (most: number, turn: number) => {
    const systemProps = { taskWorkerRateLimit: most, taskWorkerRateLimitPeriod: 1_000_000 + turn };
    ok(await ask('PUT', '/profiles/one-each', { properties: { systemProps } }));
  };

  const pageOfSource = 400;
  const nodesOfSource = 2300;
  before(async () => {
    controller = await heldController(made);
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
    ok(await ask('POST', '/profiles', { id: 'one-each', systemProps: {} }));
    ok(await ask('PUT', '/profiles/one-each/active'));
  });
  after(async () => {
    await cluster?.remove();
    controller?.close();
    source?.close();
  });

  const scenes = [
    { killed: 'other', kill: 4, more: { stopAfterFailures: 1 } },
    ...(isSoak ? [1, 5, 10, 25, 60] : [60]).flatMap((kill) =>
      (isSoak ? (['log', 'other'] as const) : (['log'] as const)).map((killed) => ({ killed, kill, more: {} })),
    ),
  ] as const;
  for (const [n, { killed, kill, more }] of scenes.entries())
    it(`changes of ${many} devices on each node, ${killed} killed at call ${kill}: each row is true, nothing is sent twice`, async () => {
      const node = cluster[killed];
      const groups = ['first', 'second'].map((group) =>
        Array.from({ length: many }, (_, at) => `sw-${n}-${group}-${at}`),
      );
      const single = `sw-${n}-single`;
      const adapter = { name: `farm-${n}`, type: 'http', properties: { baseUrl: controller.url, timeout: 60_000 } };
      const devices = [single, ...groups.flat()].map((name) => ({ name }));
      ok(await ask('POST', `${manager}/adapters`, { ...adapter, devices }));
      await limitStarts(1, n);
      made.length = 0;
      controller.holdFrom(kill);
      const changes: string[] = [];
      for (const names of groups) {
        const body = { devices: names, config: 'set a', throttle, ...more };
        changes.push(ok(await ask('POST', `${manager}/changes`, body)).jobId);
      }
      for (const group of ['first', 'second'])
        await until(() => controller.isHolding(`-${group}-`), `a call of the ${group} change is held`);
      // A change by a request dies with the node, too.
      const apply = () =>
        node.ask(
          'POST',
          `${manager}/devices/${single}/configuration`,
          { config: { config: 'set a' } },
          { 'Idempotency-Key': `once-${n}`, 'X-Min-Position': `${position}` },
        );
      const broken = apply();
      await until(() => controller.isHolding(single), 'the call of a request is held');
      const withLog = await Promise.all(changes.map(isWithLog));
      assert.deepEqual(withLog.toSorted(), [false, true]);
      await restart(node);
      assert.equal((await broken).status, 0);
      await until(node.ready, 'it is ready again');
      const retry = await apply();
      assert.deepEqual([retry.status, retry.body.metadata.errors[0].code], [503, 'unavailable']);
      assert.match(retry.text, /outcome of this attempt is not known/);
      assert.equal(made.filter((name) => name === single).length, 1);
      controller.letGo();
      for (const [i, jobId] of changes.entries()) {
        await endOf(jobId);
        const isBroken = withLog[i] === (killed === 'log');
        const { totals, list } = ok(await ask('GET', `${manager}/changes/${jobId}?limit=${many}`));
        note(JSON.stringify(totals));
        const { sent, unknown, notSent } = totals;
        assert.deepEqual([sent + unknown + notSent, list.length], [many, many]);
        assert.ok(isBroken ? unknown > 0 && unknown <= throttle : unknown === 0, `${unknown} are unknown`);
        assert.equal(notSent > 0, isBroken && 'stopAfterFailures' in more);
        areTrue(list, made);
      }
    });

  for (const killed of isSoak ? (['the runner', 'the bystander'] as const) : (['the runner'] as const))
    it(`a sync with large events, ${killed} killed while it reads: the nodes of the source, once`, async () => {
      const { _id } = ok(await ask('POST', area, { name: `Campus without ${killed}` })).result;
      source.holdFrom(3);
      const body = { source: { type: 'netbox', url: source.url, token: 'a5f0c7d9e1b3' } };
      await limitStarts(0, scenes.length);
      const { jobId } = ok(await ask('POST', `${area}/${_id}/sync`, body));
      await until(source.isHolding, 'a request is held');
      await until(async () => (await isWithLog(jobId)) !== undefined, 'the claim is shown');
      await restart((await isWithLog(jobId)) === (killed === 'the runner') ? cluster.log : cluster.other);
      source.letGo();
      const { status, variables, error } = await endOf(jobId);
      assert.equal(status, 'complete', JSON.stringify(error));
      assert.deepEqual(variables.counts, { added: nodesOfSource, changed: 0, removed: 0, leftOut: 0 });
      const events = ok(await ask('GET', `/audit/events?limit=1000&resource=inventory/${_id}`)).results;
      const added = events.filter(({ topic }: any) => topic === 'nodesAdded');
      assert.equal(added.length, Math.ceil(nodesOfSource / 1000));
    });
});
