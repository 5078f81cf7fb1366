import type { Aggregate } from '../../domain/engine/core.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
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
  /**
   * Long work that no request waits for. Only the reader of the log carries out these reactions, after all others to
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

export type Row = { readonly category: string; readonly next: Follow; readonly background: boolean };

/** The reactions by event type. */
export const reactionTable = (reactions: readonly Reaction[]) => {
  const rows = new Map<string, Row[]>();
  for (const { of, on, background = false } of reactions) {
    for (const [topic, next] of Object.entries(on)) {
      const type = `@platform/${of.area}:${topic}`;
      rows.set(type, [...(rows.get(type) ?? []), { category: of.category, next, background }]);
    }
  }
  for (const ofType of rows.values()) ofType.sort((one, other) => Number(one.background) - Number(other.background));
  return {
    types: [...rows.keys()],
    /**
     * The reactions to events of a type in a stream, those in the background last. There are none if the platform itself never writes this type to
     * such a stream, even if another program did.
     */
    following: (stream: string, type: string): readonly Row[] => {
      const ofType = rows.get(type);
      if (!ofType) return [];
      const { category } = splitStream(stream);
      return ofType.filter((row) => row.category === category);
    },
  };
};

export type ReactionTable = ReturnType<typeof reactionTable>;
