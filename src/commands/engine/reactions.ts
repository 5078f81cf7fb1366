import type { Aggregate } from '../../domain/engine/core.ts';
import { decode, type Recorded, splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { Request } from './requests.ts';

/** A command that follows from an event. */
export type Next = {
  readonly command: AnyCommand;
  readonly id: string;
  readonly input: unknown;
  /** The account for which it happens, and the event that it follows from, if they are not those of the event itself. */
  readonly about?: Pick<Request, 'actor' | 'causation' | 'correlation'>;
};

/**
 * Returns the commands that follow from an event. Each function names the type of its topic's data. It may be called
 * again for the same event: then commands that change one stream must come in the same order, because their place among
 * them is in their idempotency keys.
 */
type Follow = (event: Recorded<never>, tools: Tools) => Promise<readonly Next[]>;

/** The reactions to events of an aggregate. They run when the event is stored, and again after a crash. */
export type Reaction = {
  readonly of: Aggregate;
  readonly on: { readonly [topic: string]: Follow };
  /** False for events that nothing can follow from, as they say themselves: these take no turn. */
  readonly when?: (event: Recorded<never>) => boolean;
  /**
   * Long work that no request waits for. Only the reader of the log carries out these reactions, after all other reactions to
   * the same event, and all that follow from them, once the read models show the event.
   */
  readonly background?: true;
};

/** A reaction acts on behalf of the actor of its event. */
export const requestFor = ({ id, metadata }: Recorded): Omit<Request, 'id' | 'input'> => ({
  actor: { ...metadata.actor, groups: [], admin: true },
  operation: metadata.operation,
  requestId: metadata.requestId,
  correlation: metadata.$correlationId,
  causation: id,
  depth: metadata.depth,
});

export type Row = {
  readonly category: string;
  readonly next: Follow;
  readonly when: (event: Recorded<never>) => boolean;
  readonly background: boolean;
};

const always = (): boolean => true;

/** The reactions by event type. */
export const reactionTable = (reactions: readonly Reaction[]) => {
  const rows = new Map<string, Row[]>();
  for (const { of, on, when = always, background = false } of reactions) {
    for (const [topic, next] of Object.entries(on)) {
      const type = `@platform/${of.area}:${topic}`;
      rows.set(type, [...(rows.get(type) ?? []), { category: of.category, next, when, background }]);
    }
  }
  for (const ofType of rows.values()) ofType.sort((one, other) => Number(one.background) - Number(other.background));
  /** There are none if the platform itself never writes this type to such a stream, even if another program did. */
  const ofType = (stream: string, type: string): readonly Row[] => {
    const all = rows.get(type);
    if (!all) return [];
    const { category } = splitStream(stream);
    return all.filter((row) => row.category === category);
  };

  /** The reactions to an event, those in the background last. */
  const following = (event: Recorded): readonly Row[] =>
    // The table gives each function only events of its own topic.
    ofType(event.stream, `${event.source}:${event.topic}`).filter(({ when }) => when(event as Recorded<never>));

  return {
    types: [...rows.keys()],
    following,
    /** True if there are reactions to the event, or it cannot be read and is of a type that has some. */
    concerns: (event: StoredEvent): boolean => {
      if (ofType(event.stream, event.type).length === 0) return false;
      try {
        return following(decode(event)).length > 0;
      } catch {
        return true;
      }
    },
  };
};

export type ReactionTable = ReturnType<typeof reactionTable>;
