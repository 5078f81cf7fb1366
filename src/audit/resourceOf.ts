import { aggregates } from '../domain/all.ts';
import type { Aggregate } from '../domain/engine/core.ts';
import { type Resource, streamsAbout } from '../domain/engine/resource.ts';
import { publishedEvent } from '../domain/operations-manager/publishedEvents.ts';
import { splitStream } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';

const kinds: ReadonlyMap<string, Aggregate> = new Map(aggregates.map((each) => [each.category, each]));

/** Categories of which nobody gets events as a stream: how the platform works inside. The log's own are not known. */
export const forNobody: readonly string[] = aggregates.flatMap(({ category, internal }) => (internal ? category : []));

/** The kinds of resources that events can be of. */
export const resourceKinds: ReadonlySet<string> = new Set(
  [...kinds.keys()].filter((kind) => !forNobody.includes(kind) && !Object.hasOwn(streamsAbout, kind)),
);

/** The resource of an event; null if the stream is no resource's. */
export const resourceOf = ({ stream, type }: Pick<StoredEvent, 'stream' | 'type'>): Resource | null => {
  const { category, id } = splitStream(stream);
  if (forNobody.includes(category) || !isOfCategory(category, type)) return null;
  return { kind: streamsAbout[category] ?? category, id };
};

/**
 * Whether the platform writes events of this type to streams of this category. Others may write to a log as well, and
 * what they wrote to a stream of the platform is not the platform's.
 */
const isOfCategory = (category: string, type: string): boolean => {
  if (category === publishedEvent.category) return !type.startsWith('@platform/');
  const area = (kinds.get(category) ?? kinds.get(streamsAbout[category] ?? ''))?.area;
  return area !== undefined && type.startsWith(`@platform/${area}:`);
};
