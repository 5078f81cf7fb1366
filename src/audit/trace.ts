import { RequestError } from '../domain/engine/requestError.ts';
import { termOf } from '../store/auditIndex/found.ts';
import { type AuditEvent, auditEvent } from './auditEvent.ts';
import { type AuditSources, readNewest } from './reading.ts';

/** An event, and the events that it caused. */
export type TraceNode = AuditEvent & { readonly children: readonly TraceNode[] };

const mostEvents = 10_000;
const mostCharacters = 32 * 1024 * 1024;
// A deeper tree could not be written as JSON. The platform's own trees are flat; other programs may write any.
const mostLevels = 100;

const tooMany = (): RequestError =>
  new RequestError(
    'unprocessable',
    `More than ${mostEvents} events, or 32 MiB of them, have this correlation: list them`,
  );

/** The trees that events make: the parent of an event is the one that caused it. */
const treesOf = (events: readonly AuditEvent[]): readonly TraceNode[] => {
  type Growing = AuditEvent & { readonly children: Growing[] };
  const nodes = new Map<string, { readonly node: Growing; readonly level: number }>();
  const roots: Growing[] = [];
  // A cause is stored before what it causes.
  for (const event of events) {
    const node: Growing = { ...event, children: [] };
    const parent = event.causation === null ? undefined : nodes.get(event.causation);
    const isChild = parent !== undefined && parent.level < mostLevels;
    (isChild ? parent.node.children : roots).push(node);
    nodes.set(event.id, { node, level: isChild ? parent.level + 1 : 1 });
  }
  return roots;
};

/** All events of a correlation that the caller sees, as trees, in the order of the log. Throws `unprocessable`. */
export const traceOf = async (
  sources: AuditSources,
  correlation: string,
): Promise<{ readonly results: readonly TraceNode[] }> => {
  const events: AuditEvent[] = [];
  let characters = 0;
  const whole = { after: 0, before: Number.MAX_SAFE_INTEGER };
  const rest = await readNewest(sources, [[termOf('request', correlation)]], whole, async (stored) => {
    const event = auditEvent(stored);
    if (event.correlation !== correlation || !(await sources.sees(stored))) return true;
    events.push(event);
    characters += stored.data.length;
    return events.length <= mostEvents && characters < mostCharacters;
  });
  if (rest !== undefined) throw tooMany();
  return { results: treesOf(events.reverse()) };
};
