import { type Cluster, leads, startCluster, withoutRedis } from './cluster.ts';
import {
  type Comparison,
  type Findings,
  inTurn,
  milliseconds,
  perSecond,
  progress,
  scale,
  seconds,
} from './compare.ts';
import { mappingPath } from './kinds.ts';
import { loader } from './loader.ts';
import type { Service } from './processes.ts';
import { admin, ask, basic, request } from './requests.ts';

const documents = 10_000;
const connections = 64;
const samples = 300;
const leaseSeconds = 3;

const pathOf = (n: number): string => mappingPath(n % documents);
const changeOf = (n: number) => ({ updates: { platformGroups: [`changed-${n}`] } });
const Authorization = basic(admin);

const withCluster = async (measure: (cluster: Cluster) => Promise<Findings>): Promise<Findings> => {
  const cluster = await startCluster(documents);
  if (!cluster) return withoutRedis;
  const findings = await measure(cluster);
  await cluster.stop();
  return findings;
};

/** (i) Lists and durable changes on two nodes, compared with one: the same connections in all. */
export const twoNodes = (): Promise<Findings> =>
  withCluster(async (cluster) => {
    const nodes = [await cluster.node(), await cluster.node()] as const;
    const kinds = [
      {
        title: 'GET 25 of 10,000 group mappings',
        requests: Array.from({ length: 200 }, (_, n) =>
          request('GET', `/group-mappings?skip=${n * 37}`, { Authorization }),
        ),
      },
      {
        title: 'durable PATCH of group mappings',
        requests: Array.from({ length: 2 * documents }, (_, n) =>
          request('PATCH', pathOf(n), { Authorization }, JSON.stringify(changeOf(Math.floor(n / documents)))),
        ),
      },
    ];
    const comparisons: Comparison[] = [];
    const notes: string[] = [];
    for (const { title, requests } of kinds) {
      // Each its own half: what one node changes is not what the other does.
      const halves = [
        loader(requests.filter((_, n) => n % 2 === 0)),
        loader(requests.filter((_, n) => n % 2 === 1)),
      ] as const;
      const on = (servers: readonly [Service, Service], name: string) => async (): Promise<number> => {
        const runs = await Promise.all(
          halves.map((half, n) =>
            half.run(name, servers[n]!, {
              connections: connections / 2,
              status: 200,
              milliseconds: scale.milliseconds,
            }),
          ),
        );
        return runs.reduce((sum, { rate }) => sum + rate, 0);
      };
      const found = await inTurn(`i, ${title}`, {
        two: on(nodes, 'two nodes'),
        one: on([nodes[0], nodes[0]], 'one node'),
      });
      comparisons.push({
        what: `(i) ${title}, ${connections} connections to two nodes`,
        comparedWith: 'to one node',
        ours: found.two,
        theirs: found.one,
        shown: perSecond,
      });
      notes.push(`(i) ${title}, cores in use for each half: ${halves[0].shares()}.`);
      for (const half of halves) await half.stop();
    }
    return { comparisons, notes };
  });

/** (j) From kill -9 of the node that projects until another shows what is changed after it, compared with the lease. */
export const takingOver = (): Promise<Findings> =>
  withCluster(async (cluster) => {
    let nodes = [await cluster.node(), await cluster.node()];
    const took: number[] = [];
    for (let round = 1; round <= scale.rounds; round++) {
      progress(`j: round ${round} of ${scale.rounds}`);
      const leading = (await leads(nodes[0]!)) ? nodes[0]! : nodes[1]!;
      const other = nodes.find((node) => node !== leading)!;
      await leading.kill();
      const start = performance.now();
      const { headers } = await ask(other.url, 'PATCH', pathOf(round), { body: changeOf(round) });
      for (;;) {
        const { status } = await fetch(`${other.url}${pathOf(round)}`, {
          headers: { Authorization, 'X-Min-Position': headers['x-event-position']! },
        });
        if (status === 200) break;
      }
      took.push((performance.now() - start) / 1000);
      nodes = [other, await cluster.node()];
    }
    return {
      comparisons: [
        {
          what: '(j) kill -9 of the node that projects, until a later change is shown',
          comparedWith: 'the lease',
          ours: took,
          theirs: took.map(() => leaseSeconds),
          shown: seconds,
        },
      ],
    };
  });

/**
 * (l) From the answer to a change until a GET that waits for it is answered: on the other node, compared with the same.
 */
export const readingWrites = (): Promise<Findings> =>
  withCluster(async (cluster) => {
    const [one, other] = [await cluster.node(), await cluster.node()];
    const leading = (await leads(one)) ? one : other;
    const follower = leading === one ? other : one;
    let n = 0;
    const p99 = (writer: Service, reader: Service) => async (): Promise<number> => {
      const latencies: number[] = [];
      for (let sample = 0; sample < samples; sample++) {
        const path = pathOf(++n);
        const { headers } = await ask(writer.url, 'PATCH', path, { body: changeOf(n) });
        const start = performance.now();
        await ask(reader.url, 'GET', path, { headers: { 'X-Min-Position': headers['x-event-position']! } });
        latencies.push(performance.now() - start);
      }
      return latencies.toSorted((a, b) => a - b)[Math.floor(samples * 0.99)]!;
    };
    const found = await inTurn('l', {
      follower: p99(leading, follower),
      leader: p99(follower, leading),
      same: p99(leading, leading),
    });
    const comparedWith = 'written to and read from the node that projects';
    return {
      comparisons: [
        {
          what: '(l) p99 of reading a change on a node that does not project',
          comparedWith,
          ours: found.follower,
          theirs: found.same,
          shown: milliseconds,
        },
        {
          what: '(l) p99 of reading a change of another node on the one that projects',
          comparedWith,
          ours: found.leader,
          theirs: found.same,
          shown: milliseconds,
        },
      ],
    };
  });
