import { abortable } from '@automation-platform/concurrency';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Aggregate } from '../../../domain/engine/core.ts';
import { type EventNotice, splitStream } from '../../../store/event.ts';

type Needs<S> = {
  readonly tools: Pick<Tools, 'state'>;
  readonly of: Aggregate<S>;
  /** The topics with which it may end. */
  readonly topics: readonly string[];
  readonly hasEnded: (state: S) => boolean;
};

/** Waits for resources of one kind to end. */
export const endings = <S>({ tools, of, topics, hasEnded }: Needs<S>) => {
  const waiting = new Map<string, () => void>();
  return {
    /** The state at the end. */
    ended: async (id: string, signal: AbortSignal): Promise<S> => {
      let hear = (): void => undefined;
      const end = new Promise<void>((resolve) => {
        hear = resolve;
      });
      waiting.set(id, hear);
      try {
        const now = await tools.state(of, id);
        if (hasEnded(now)) return now;
        await abortable(end, signal);
        return await tools.state(of, id);
      } finally {
        // A later run may wait since.
        if (waiting.get(id) === hear) waiting.delete(id);
      }
    },
    /** To be called with events of the categories. */
    onEvent: ({ stream, topic }: Pick<EventNotice, 'stream' | 'topic'>): void => {
      if (topics.includes(topic)) waiting.get(splitStream(stream).id)?.();
    },
    categories: new Set([of.category]),
  };
};
