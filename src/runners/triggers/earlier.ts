import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { triggerRuns } from '../../domain/operations-manager/triggerRuns.ts';
import { splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { parkedIdOf } from './firing.ts';
import { readOf } from './read.ts';

/** A run: its event, and its trigger. */
export type Placed = {
  readonly event: Pick<StoredEvent, 'id' | 'position'>;
  readonly definition: { readonly id: string };
};

/** The types of the events that tell of firings without a job. */
export const refusedType = `@platform/${triggerRuns.area}:runsRefused`;
const parkedType = `@platform/${parkedReaction.area}:reactionParked`;

/** The event that a refusal names; undefined if the event of the log is no refusal of a firing. */
export const refusedIn = (event: StoredEvent): { readonly trigger: string; readonly event: string } | undefined => {
  const { category, id } = splitStream(event.stream);
  if (event.type !== refusedType || category !== triggerRuns.category) return undefined;
  const read = readOf(event);
  const named = read instanceof Error ? undefined : (read.data as { readonly event?: unknown }).event;
  return typeof named === 'string' ? { trigger: id, event: named } : undefined;
};

/** The event that the last refusal of a trigger's firings up to a position names; undefined without any. */
export const lastRefusedOf = async (
  store: Pick<EventStore, 'read'>,
  trigger: string,
  position: number,
): Promise<string | undefined> => {
  let last: string | undefined;
  for await (const events of store.read(`${triggerRuns.category}-${trigger}`))
    for (const event of events) if (event.position <= position) last = refusedIn(event)?.event ?? last;
  return last;
};

/**
 * Reads the log from a position to its head, to find out which firings earlier readers have settled without a job: the
 * checkpoint may lag behind what they stored. Refusals of a trigger are stored in the order of its events, and after
 * all that it had to do before. So a refusal says that the trigger has settled everything up to its event.
 */
export const settledEarlier = async (
  store: EventStore,
  from: number,
  /** Called with each refusal, in the order of the log. */
  tell: (refused: { readonly trigger: string; readonly event: string }) => void,
) => {
  const parked = new Set<string>();
  const named = new Map<string, string[]>();
  for await (const { events } of store.readAll(from, [refusedType, parkedType])) {
    for (const event of events) {
      const { category, id } = splitStream(event.stream);
      if (event.type === parkedType && category === parkedReaction.category) parked.add(id);
      const refused = refusedIn(event);
      if (!refused) continue;
      tell(refused);
      named.set(refused.event, [...(named.get(refused.event) ?? []), refused.trigger]);
    }
  }
  const upTo = new Map<string, number>();
  // Events that are not found are before the position: nobody asks for them.
  if (named.size > 0) {
    for await (const { events } of store.readAll(from)) {
      for (const { id, position } of events)
        for (const trigger of named.get(id) ?? []) upTo.set(trigger, Math.max(upTo.get(trigger) ?? 0, position));
    }
  }
  return ({ event, definition: { id } }: Placed): boolean =>
    event.position <= (upTo.get(id) ?? 0) || parked.has(parkedIdOf(event.id, id));
};
