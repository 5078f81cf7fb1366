import { exactText } from '@automation-platform/json';
import type { AuditEvent } from '../audit/auditEvent.ts';
import type { HistoryEntry } from '../audit/history.ts';
import type { Stat } from '../audit/stats.ts';
import type { TraceNode } from '../audit/trace.ts';
import type { PatchOperation } from '../domain/engine/jsonPatch.ts';
import { resourceText } from '../domain/engine/resource.ts';
import type { Column } from './records.ts';

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
