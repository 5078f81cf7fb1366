import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findEvents } from '../src/audit/findEvents.ts';
import { historyOf } from '../src/audit/history.ts';
import type { AuditSources } from '../src/audit/reading.ts';
import { traceOf } from '../src/audit/trace.ts';
import { auditIndex } from '../src/store/auditIndex/auditIndex.ts';
import { decode } from '../src/store/event.ts';
import { openSqliteReader } from '../src/store/sqlite/store.ts';
import { type Comparison, type Findings, inTurn, milliseconds, progress, scale } from './compare.ts';
import { hexId, kinds } from './kinds.ts';
import { writeLog } from './logs.ts';
import { temporary } from './processes.ts';

const smaller = 10_000;
const questions = 200;
const page = { limit: 25 };

/** A log of so many events with its index, which is filled. */
const opened = async (events: number) => {
  const folder = join(await temporary(), `asking ${events}`);
  mkdirSync(folder);
  const file = join(folder, 'events.db');
  writeLog(file, { kinds, documents: events / 10, eventsEach: 10 });
  const log = await openSqliteReader(file);
  const index = auditIndex({ folder, log: { file }, warn: () => undefined });
  const head = await log.head();
  progress(`index of ${events} events`);
  const began = performance.now();
  for (;;) {
    // Whoever asks is told to come again while the index is being made.
    const filled = await index.read(head, () => true).catch(() => false);
    if (filled) break;
  }
  const indexSeconds = (performance.now() - began) / 1000;
  const sources: AuditSources = { log, index, sees: async () => true };
  const some = Array.from({ length: questions }, (_, n) => 1 + Math.floor((n * (head - 1)) / questions));
  const samples = await Promise.all(
    some.map(async (position) => {
      const event = await log.at(position);
      if (!event) throw new Error(`Nothing is at position ${position}`);
      return decode(event);
    }),
  );
  return { sources, samples, indexSeconds };
};

type Opened = Awaited<ReturnType<typeof opened>>;

/** Milliseconds that a question takes, on average. */
const timed = async ({ sources, samples }: Opened, ask: Question): Promise<number> => {
  const began = performance.now();
  for (const sample of samples) await ask(sources, sample);
  return (performance.now() - began) / samples.length;
};

type Question = (sources: AuditSources, sample: Opened['samples'][number]) => Promise<unknown>;

const asked: Readonly<Record<string, Question>> = {
  'audit log: first page of all events': (sources) => findEvents(sources, {}, page),
  'audit log: first page of an account': (sources) => findEvents(sources, { actor: hexId(0) }, page),
  'audit log: first page of a resource': (sources, { stream }) =>
    findEvents(sources, { resource: stream.replace('-', '/') }, page),
  'audit log: first page before a time': (sources, { metadata }) => findEvents(sources, { until: metadata.at }, page),
  'audit show: first page': (sources, { stream }) => {
    const dash = stream.indexOf('-');
    return historyOf(sources, { kind: stream.slice(0, dash), id: stream.slice(dash + 1) }, page);
  },
  'audit trace': (sources, { metadata }) => traceOf(sources, metadata.$correlationId),
};

/** (q) The first page of audits takes as long in a long log as in a short one. */
export const asking = async (): Promise<Findings> => {
  const [short, long] = [await opened(smaller), await opened(scale.events)];
  const comparisons: Comparison[] = [];
  for (const [title, ask] of Object.entries(asked)) {
    const { ours, theirs } = await inTurn(`(q) ${title}`, {
      ours: () => timed(long, ask),
      theirs: () => timed(short, ask),
    });
    comparisons.push({
      what: `(q) ${title}, ${scale.events.toLocaleString('en')} events`,
      comparedWith: `${smaller.toLocaleString('en')} events`,
      ours,
      theirs,
      shown: milliseconds,
      goal: { most: 2 },
    });
  }
  for (const { sources } of [short, long]) {
    await (sources.index as ReturnType<typeof auditIndex>).stop();
    await (sources.log as Awaited<ReturnType<typeof openSqliteReader>>).close();
  }
  const perSecond = Math.round(scale.events / long.indexSeconds).toLocaleString('en');
  return { comparisons, notes: [`(q) The index of the long log is made of ${perSecond} events a second.`] };
};
