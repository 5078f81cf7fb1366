import { join } from 'node:path';
import { openEventStoreDb } from '../src/store/eventstoredb/store.ts';
import type { EventStore, StoredEvent } from '../src/store/port.ts';
import { openSqliteReader } from '../src/store/sqlite/store.ts';
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
import { kinds, mappingPath } from './kinds.ts';
import { loader } from './loader.ts';
import { writeLog } from './logs.ts';
import { type Service, startProgram, startService, temporary } from './processes.ts';
import type { RawDone, RawWork } from './programs/rawClient.ts';
import { startRedis } from './redis.ts';
import { admin, ask, basic, request } from './requests.ts';
import { ready } from './service.ts';

const events = 200_000;
const eventsEach = 10;
const connections = 128;
const samples = 500;
const mostVisible = 100;

const url = process.env.TEST_ESDB_URL;

/**
 * Group mappings that are changed: few enough that a node that has changed each once need not read its stream again.
 */
const mappingCount = 1_000;

const inFlight = 64;

/** The events of a log in a file, stream by stream. */
const streamsIn = async (file: string): Promise<ReadonlyMap<string, readonly StoredEvent[]>> => {
  const streams = new Map<string, StoredEvent[]>();
  const reader = await openSqliteReader(file);
  for await (const { events } of reader.readAll(0)) {
    for (const event of events) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
  }
  await reader.close();
  return streams;
};

const isFilled = async (store: EventStore, streams: Iterable<string>): Promise<boolean> => {
  const [first] = streams;
  for await (const found of store.read(first!)) if (found.length > 0) return true;
  return false;
};

/** Fills the server's log, unless an earlier run has done so. */
const fill = async (log: string): Promise<void> => {
  progress(`m: writing ${events} events into EventStoreDB`);
  const file = join(await temporary(), 'events.db');
  writeLog(file, { kinds, documents: events / eventsEach, eventsEach });
  const streams = await streamsIn(file);
  const store = await openEventStoreDb({ url: log, log: () => undefined });
  const left = (await isFilled(store, streams.keys())) ? [] : [...streams];
  const writer = async (): Promise<void> => {
    for (let one = left.pop(); one; one = left.pop()) await store.append(one[0], -1, one[1]);
  };
  await Promise.all(Array.from({ length: inFlight }, writer));
  await store.close();
};

const startNode = async (settings: Readonly<Record<string, string>>): Promise<Service> => {
  const node = await startService(await temporary(), settings);
  await ready(node.url);
  return node;
};

const raw = async (work: RawWork): Promise<RawDone> => {
  const client = startProgram('rawClient');
  const done = await client.ask<RawDone>(work);
  await client.stop();
  return done;
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

/** From the start of a process with an empty folder until it is ready, or until the client has read everything. */
const starting = async (log: string): Promise<Comparison> => {
  const started = async (): Promise<number> => {
    let node: Service | undefined;
    const took = await timed(async () => {
      node = await startNode({ EVENTSTORE_URL: log });
    });
    await node!.stop();
    return took;
  };
  const found = await inTurn('m, start', { node: started, raw: () => timed(() => raw({ url: log })) });
  return {
    what: `(m) start of a node with memory on ${events.toLocaleString('en')} events in EventStoreDB`,
    comparedWith: '@eventstore/db-client reads them all',
    ours: found.node,
    theirs: found.raw,
    shown: seconds,
    goal: { most: 1.5 },
  };
};

const changed = (n: number) => ({ updates: { platformGroups: [`changed-${n}`] } });

/** Durable changes, none of which may fail, beside appends of the client. */
const changing = async (log: string, name: string, settings: Readonly<Record<string, string>>): Promise<Findings> => {
  const node = await startNode({ EVENTSTORE_URL: log, ...settings });
  const requests = Array.from({ length: 2 * mappingCount }, (_, n) =>
    request(
      'PATCH',
      mappingPath(n % mappingCount),
      { Authorization: basic(admin) },
      JSON.stringify(changed(Math.floor(n / mappingCount))),
    ),
  );
  const load = loader(requests);
  await load.run('the first time', node, { connections, status: 200, count: 4 * mappingCount });
  const found = await inTurn(`m, changes, ${name}`, {
    service: async () =>
      (await load.run('service', node, { connections, status: 200, milliseconds: scale.milliseconds })).rate,
    raw: async () => {
      const { count, milliseconds } = await raw({
        url: log,
        appends: { inFlight: connections, milliseconds: scale.milliseconds },
      });
      return (count / milliseconds) * 1000;
    },
  });
  const notes = [`(m) ${name}, cores in use: ${load.shares()}. Every one of the changes was answered with 200.`];
  await load.stop();
  await node.stop();
  const what = `(m) durable PATCH of group mappings in EventStoreDB, ${name}, ${connections} connections`;
  const comparison: Comparison = {
    what,
    comparedWith: `@eventstore/db-client, ${connections} appends in flight`,
    ours: found.service,
    theirs: found.raw,
    shown: perSecond,
    goal: { least: 0.5 },
  };
  return { comparisons: [comparison], notes };
};

/** From the answer to a change on one node until another node shows it. */
const showing = async (log: string, name: string, settings: Readonly<Record<string, string>>): Promise<Comparison> => {
  const [one, other] = [
    await startNode({ EVENTSTORE_URL: log, ...settings }),
    await startNode({ EVENTSTORE_URL: log, ...settings }),
  ];
  let n = 0;
  const p99 = async (): Promise<number> => {
    const latencies: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const path = mappingPath(++n % mappingCount);
      const { headers } = await ask(one.url, 'PATCH', path, { body: changed(n) });
      const position = headers['x-event-position']!;
      latencies.push(
        1000 * (await timed(() => ask(other.url, 'GET', path, { headers: { 'X-Min-Position': position } }))),
      );
    }
    return latencies.toSorted((a, b) => a - b)[Math.floor(samples * 0.99)]!;
  };
  const found = await inTurn(`m, showing, ${name}`, { p99 });
  for (const node of [one, other]) await node.stop();
  return {
    what: `(m) p99 until a change is shown by another node, EventStoreDB, ${name}`,
    comparedWith: 'a tenth of a second',
    ours: found.p99,
    theirs: found.p99.map(() => mostVisible),
    shown: milliseconds,
    goal: { most: 1 },
  };
};

/** (m) EventStoreDB as the log, beside its client. Only with a server in TEST_ESDB_URL, whose log has nothing else. */
export const eventstoredb = async (): Promise<Findings> => {
  if (!url)
    return {
      comparisons: [],
      notes: ['(m) is measured only where TEST_ESDB_URL names an EventStoreDB that has nothing else.'],
    };
  await fill(url);
  const start = await starting(url);
  const redis = await startRedis();
  const stores = { memory: {}, ...(redis !== undefined && { Redis: { READSTORE_URL: redis } }) };
  const findings: Findings[] = [{ comparisons: [start] }];
  for (const [name, settings] of Object.entries(stores)) {
    findings.push(await changing(url, name, settings));
    findings.push({ comparisons: [await showing(url, name, settings)] });
  }
  if (redis === undefined)
    findings.push({ comparisons: [], notes: ['(m) **Redis is not measured: redis-server is not installed.**'] });
  return {
    comparisons: findings.flatMap(({ comparisons }) => comparisons),
    notes: findings.flatMap(({ notes = [] }) => notes),
  };
};
