import type { Aggregate } from '../../domain/engine/core.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { Request } from './requests.ts';

/** A command that follows from an event. */
export type Next = { readonly command: AnyCommand; readonly id: string; readonly input: unknown };

/** Tells what follows from an event. Its data is as the topic has it: each function names its own type. */
type Follow = (event: Recorded<never>, tools: Tools) => Promise<readonly Next[]>;

/** What follows from events of an aggregate: asked once the event is stored, and again after a crash. */
export type Reaction = {
  readonly of: Aggregate;
  readonly on: { readonly [topic: string]: Follow };
  /**
   * Long work that no request waits for: the topics, with all that follows from them, are left to the reader of the
   * log.
   */
  readonly background?: true;
};

/** What follows from an event is done for whoever caused it. */
export const requestFor = ({ id, metadata }: Recorded): Omit<Request, 'id' | 'input'> => ({
  actor: { ...metadata.actor, groups: [], admin: true },
  operation: metadata.operation,
  requestId: metadata.requestId,
  correlation: metadata.$correlationId,
  causation: id,
});

type Row = { readonly category: string; readonly next: Follow; readonly background: boolean };

/** The reactions by the type of event that they follow. */
export const reactionTable = (reactions: readonly Reaction[]) => {
  const rows = new Map<string, Row[]>();
  for (const { of, on, background = false } of reactions) {
    for (const [topic, next] of Object.entries(on)) {
      const type = `@platform/${of.area}:${topic}`;
      rows.set(type, [...(rows.get(type) ?? []), { category: of.category, next, background }]);
    }
  }
  return {
    types: [...rows.keys()],
    /**
     * What follows from events of a type in a stream: nothing where the platform does not write that type, whoever
     * did.
     */
    following: (stream: string, type: string): readonly Row[] => {
      const { category } = splitStream(stream);
      return (rows.get(type) ?? []).filter((row) => row.category === category);
    },
  };
};

export type ReactionTable = ReturnType<typeof reactionTable>;
