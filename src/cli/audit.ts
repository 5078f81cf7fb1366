import { existsSync } from 'node:fs';
import { plainText } from '@automation-platform/client';
import { exactText } from '@automation-platform/json';
import type { AuditEvent } from '../audit/auditEvent.ts';
import { type AuditPage, findEvents, type PageAsked, type Wanted } from '../audit/findEvents.ts';
import { differenceOf, documentAt, type HistoryEntry, historyOf, resourceGiven } from '../audit/history.ts';
import type { AuditSources } from '../audit/reading.ts';
import { type Stat, statsOf } from '../audit/stats.ts';
import { type TraceNode, traceOf } from '../audit/trace.ts';
import type { Config } from '../config.ts';
import type { PatchOperation } from '../domain/engine/jsonPatch.ts';
import { resourceText } from '../domain/engine/resource.ts';
import { mayHaveParts } from '../events/ownStreams.ts';
import { auditIndex } from '../store/auditIndex/auditIndex.ts';
import { hiddenCategories } from '../store/auditIndex/found.ts';
import { splitStream } from '../store/event.ts';
import { openLogToRead } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { progressLine } from './progress.ts';
import { type Column, type RecordOutput, recordWriter } from './records.ts';

const pageLength = 500;

/** Where a command of audits reads, and where it writes. */
type Place = { readonly config: Config; readonly output?: RecordOutput; readonly messages?: NodeJS.WritableStream };

const tell = (message: string): void => void process.stderr.write(`${message}\n`);

/**
 * Opens the log of the settings for reading, also while the service uses it, and gives it to the work with all rights.
 * The index beside it is filled first, however long that takes.
 */
const withLog = async (
  { EVENTSTORE_URL: url, DATA_DIR: folder }: Config,
  work: (sources: AuditSources & { readonly log: EventStore }) => Promise<void>,
): Promise<void> => {
  if ('file' in url && !existsSync(url.file)) throw new Error(`There is no log ${url.file}`);
  const log = withPayloads(await openLogToRead(url, tell), mayHaveParts);
  const progress = progressLine(process.stderr);
  const growing = (position: number, target: number): void => {
    progress.show(() => `The audit index is being made: position ${position} of ${target}`);
    if (position >= target) progress.end();
  };
  const warn = (message: string, { reason }: Record<string, unknown>): void =>
    tell(`${message} (in ${folder}: ${String(reason)})`);
  const index = auditIndex({ folder, log: url, warn, growing });
  const sees: AuditSources['sees'] = async ({ stream }) => !hiddenCategories.includes(splitStream(stream).category);
  try {
    await work({ log, index, sees });
  } finally {
    progress.end();
    await index.stop();
    await log.close();
  }
};

const write = async <T>(records: Iterable<T>, columns: readonly Column<T>[], output: RecordOutput): Promise<void> => {
  const writer = recordWriter(output, columns);
  for (const record of records) await writer.write(record);
};

/** The number of records of a list that were written, and whether there may be more. */
type Written = { readonly count: number; readonly mayBeMore: boolean };

/** Writes the pages of a list one after the other, at most `most` records. */
const writePages = async <T>(
  pageOf: (request: PageAsked) => Promise<AuditPage<T>>,
  most: number,
  write: (record: T) => Promise<void>,
): Promise<Written> => {
  let cursor: string | undefined;
  let count = 0;
  while (count < most) {
    const page = await pageOf({ limit: Math.min(most - count, pageLength), cursor });
    for (const record of page.results) await write(record);
    count += page.results.length;
    if (page.cursor === null) return { count, mayBeMore: false };
    cursor = page.cursor;
  }
  return { count, mayBeMore: true };
};

/** `audit log`: the newest events that are wanted. */
export const auditLog = (
  { config, output = process.stdout, messages = process.stderr }: Place,
  search: Wanted,
  limit: number,
): Promise<void> =>
  withLog(config, async (sources) => {
    const writer = recordWriter(output, eventColumns);
    const { count, mayBeMore } = await writePages(
      (request) => findEvents(sources, search, request),
      limit,
      writer.write,
    );
    if (count === 0) messages.write('No event of the log fits\n');
    if (mayBeMore) messages.write(`These are the newest ${limit}. There may be older ones: --limit shows more\n`);
  });

/** `audit show`: what happened to a resource. */
export const auditShow = ({ config, output = process.stdout }: Place, resource: string): Promise<void> =>
  withLog(config, async (sources) => {
    const writer = recordWriter(output, historyColumns);
    const namedResource = resourceGiven(resource);
    await writePages((request) => historyOf(sources, namedResource, request), Number.POSITIVE_INFINITY, writer.write);
  });

/** `audit as-of`: the document that a resource's stream gave at a moment. */
export const auditAsOf = (
  { config, output = process.stdout }: Place,
  resource: string,
  moment: string,
): Promise<void> =>
  withLog(config, async (sources) => {
    const document = await documentAt(sources, resourceGiven(resource), moment);
    const text = exactText(document);
    output.write(`${output.isTTY ? plainText(indented(text)) : text}\n`);
  });

/** `audit diff`: how a resource differs between two moments. */
export const auditDiff = (
  { config, output = process.stdout }: Place,
  resource: string,
  moments: { readonly from: string; readonly to: string },
): Promise<void> =>
  withLog(config, async (sources) => {
    const { patch } = await differenceOf(sources, resourceGiven(resource), moments);
    await write(patch, patchColumns, output);
  });

/** `audit trace`: what followed from a request. On a terminal each event has its line, else each tree. */
export const auditTrace = (
  { config, output = process.stdout, messages = process.stderr }: Place,
  correlation: string,
): Promise<void> =>
  withLog(config, async (sources: AuditSources) => {
    const { results } = await traceOf(sources, correlation);
    if (results.length === 0) messages.write('No event of the log has this correlation\n');
    if (output.isTTY) await write(flattened(results), traceColumns, output);
    else for (const tree of results) output.write(`${exactText(tree)}\n`);
  });

/** `audit stats`: how much of what is in the log. */
export const auditStats = ({ config, output = process.stdout }: Place): Promise<void> =>
  withLog(config, async ({ log }) => write(await statsOf(log), statColumns, output));

type Facts = Omit<AuditEvent, 'data'>;

const facts: readonly Column<Facts>[] = [
  { heading: 'at', width: 24, text: ({ at }) => at ?? '' },
  { heading: 'position', width: 10, text: ({ position }) => String(position) },
  { heading: 'actor', width: 12, text: ({ actor }) => actor?.username ?? '' },
];
const resource: Column<Facts> = {
  heading: 'resource',
  width: 40,
  text: (event) => (event.resource ? resourceText(event.resource) : ''),
};

export const eventColumns: readonly Column<AuditEvent>[] = [
  ...facts,
  { heading: 'event', width: 44, text: ({ source, topic }) => `${source}:${topic}` },
  resource,
  { heading: 'data', width: 0, text: ({ data }) => exactText(data) },
];

const operationText = (operation: PatchOperation): string => {
  const value = 'value' in operation ? ` ${exactText(operation.value)}` : '';
  return `${operation.op} ${operation.path || '(all)'}${value}`;
};

export const historyColumns: readonly Column<HistoryEntry>[] = [
  ...facts,
  { heading: 'revision', width: 8, text: ({ revision }) => String(revision) },
  { heading: 'topic', width: 28, text: ({ topic }) => topic },
  { heading: 'changes', width: 0, text: ({ patch }) => patch.map(operationText).join('; ') },
];

export const patchColumns: readonly Column<PatchOperation>[] = [
  { heading: 'operation', width: 10, text: ({ op }) => op },
  { heading: 'path', width: 40, text: ({ path }) => path },
  { heading: 'value', width: 0, text: (one) => ('value' in one ? exactText(one.value) : '') },
];

/** An event of a trace, and how far down it is. */
type Placed = { readonly node: TraceNode; readonly level: number };

export const traceColumns: readonly Column<Placed>[] = [
  ...facts.map(({ text, ...column }): Column<Placed> => ({ ...column, text: ({ node }) => text(node) })),
  {
    heading: 'event',
    width: 50,
    text: ({ node, level }) => `${'  '.repeat(level)}${node.source}:${node.topic}`,
  },
  { ...resource, text: ({ node }) => resource.text(node) },
];

/** The events of trees, each after the one that caused it. */
export const flattened = (nodes: readonly TraceNode[], level = 0): readonly Placed[] =>
  nodes.flatMap((node) => [{ node, level }, ...flattened(node.children, level + 1)]);

export const statColumns: readonly Column<Stat>[] = [
  { heading: 'by', width: 10, text: ({ by }) => by },
  { heading: 'name', width: 60, text: ({ name }) => name },
  { heading: 'count', width: 0, text: ({ count }) => String(count) },
];

const token = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[[\]{},:]/g;

// A terminal would obey these control characters. JSON has all others escaped.
const control = /[\u007f-\u009f]/g;

const escaped = (letter: string): string => `\\u00${letter.charCodeAt(0).toString(16)}`;

/** JSON text with a line for each member, for a terminal. Numbers stay as they are written. */
export const indented = (text: string): string => {
  let level = 0;
  const line = (): string => `\n${'  '.repeat(level)}`;
  const placed = text.replace(token, (part) => {
    if (part === ':') return ': ';
    if (part === ',') return `,${line()}`;
    if (part === '{' || part === '[') {
      level++;
      return part + line();
    }
    if (part !== '}' && part !== ']') return part;
    level--;
    return line() + part;
  });
  return placed.replace(control, escaped);
};
