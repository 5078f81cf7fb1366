import { isObject, type Members } from '@automation-platform/json';
import { aggregates } from '../domain/all.ts';
import { same } from '../domain/engine/changes.ts';
import { fold } from '../domain/engine/core.ts';
import { type Imported, wholeOf } from '../domain/engine/importedDocuments.ts';
import type { Resource } from '../domain/engine/resource.ts';
import { projections } from '../projections/all.ts';
import { project } from '../projections/engine/define.ts';
import { decode } from '../store/event.ts';
import { withTokens } from './hiddenSecrets.ts';
import type { AuditSources } from './reading.ts';

/** What a resource said, with its sealed secrets. */
export type Former = {
  readonly document: Members;
  /** The document, and what an import brought and the service does not know. */
  readonly whole: Members;
  readonly state: unknown;
};

/**
 * What a resource said just after a position of the log; undefined if it did not exist. Throws if an event before that
 * cannot be read.
 */
export const formerAt = async (
  { log }: Pick<AuditSources, 'log'>,
  { kind, id }: Resource,
  position: number,
): Promise<Former | undefined> => {
  const aggregate = aggregates.find(({ category }) => category === kind);
  const projection = projections.find(({ of }) => of === aggregate);
  if (!aggregate || !projection) return undefined;
  let state = aggregate.initial;
  let document: unknown;
  for await (const events of log.read(`${kind}-${id}`)) {
    for (const stored of events) {
      if (stored.position > position) return aggregate.exists(state) ? former(document, state) : undefined;
      const event = decode(stored);
      state = fold(aggregate, [{ topic: event.topic, data: event.data }], state);
      document = project(projection, document, event);
    }
  }
  return aggregate.exists(state) ? former(document, state) : undefined;
};

const former = (shown: unknown, state: unknown): Former | undefined => {
  if (!isObject(shown)) return undefined;
  const { content, imported }: Members = isObject(state) ? state : {};
  const document = isObject(content) ? withSecrets(shown, content) : shown;
  if (!isImported(imported)) return { document, whole: document, state };
  const present = { content: isObject(content) ? content : imported.content, shown: document };
  return { document, whole: wholeOf(imported, present), state };
};

/** Documents may have only masks in the place of secrets. The state has the secrets themselves. */
const withSecrets = (document: Members, content: Members): Members => {
  const known = Object.entries(content).filter(([name]) => Object.hasOwn(document, name));
  return { ...document, ...Object.fromEntries(known) };
};

const isImported = (value: unknown): value is Imported<object> =>
  isObject(value) && isObject(value.document) && isObject(value.content);

/** Whether two documents of a kind say the same, whenever and by whomever they were changed last. */
export const saysTheSame = (kind: string, one: Members, other: Members): boolean =>
  same(withTokens(kind, timeless(one)), withTokens(kind, timeless(other)));

const timeless = ({ lastUpdated: _, lastUpdatedBy: __, ...rest }: Members): Members => rest;
