import { derivedId } from '../../store/derivedIds.ts';
import { nameClaims } from './claims.ts';
import { type Attempt, decide, namesWanted } from './decide.ts';
import type { AnyCommand } from './define.ts';
import type { HandleNeeds } from './handle.ts';
import type { Request } from './requests.ts';

/** The effect that a command would have. `before` and `after` are the documents; undefined if there is none. */
export type Preview = { readonly before: unknown; readonly after: unknown; readonly changed: boolean };

/**
 * Makes the function that decides a command and stores nothing. It throws what the command itself would throw, and may
 * still be wrong: another writer may be faster.
 */
export const previewer =
  ({ store, streams, tools, now }: Pick<HandleNeeds, 'store' | 'streams' | 'tools' | 'now'>) =>
  async (command: AnyCommand, request: Request): Promise<Preview> => {
    const { aggregate } = command;
    const stream = `${aggregate.category}-${request.id}`;
    const precomputed = await command.precompute?.(request.input, tools);
    const past = await streams.refresh(stream);
    const at = now();
    const { actor, operation, requestId } = request;
    const about = {
      $correlationId: requestId,
      $causationId: requestId,
      at,
      actor,
      operation,
      requestId,
      schemaVersion: 1,
    };
    const newId = (word: string): string => derivedId(`preview ${stream} ${word}`);
    const attempt: Attempt = { command, request, precomputed, stream, past, at, about, newId };
    const { events } = await decide(attempt, tools);
    await nameClaims(store, streams).refuseTaken(namesWanted(attempt, events));
    const recorded = events.map(({ topic, data, source = `@platform/${aggregate.area}` }, i) => ({
      id: '',
      stream,
      revision: past.revision + 1 + i,
      position: 0,
      source,
      topic,
      data,
      metadata: { ...about, hash: '' },
    }));
    const after = streams.extend(stream, past, recorded);
    return { before: past.docs[0], after: after.docs[0], changed: events.length > 0 };
  };

export type Previewer = ReturnType<typeof previewer>;
