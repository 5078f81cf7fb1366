import { lruCache } from '../../concurrency/lruCache.ts';

const keptStreams = 50_000;

/**
 * The revisions at which streams end, as far as they are known. Most commands ask whether a stream that they know has
 * grown: they need not read the file for that.
 */
export const streamEnds = () => {
  const ends = lruCache<number>(keptStreams);
  return {
    /** True if the stream is known to have no event from this revision on. */
    isBefore: (stream: string, revision: number): boolean => {
      const end = ends.get(stream);
      return end !== undefined && end < revision;
    },
    /** The stream ends here, as the file says, or as the writer has acknowledged. */
    set: (stream: string, revision: number): void => void ends.set(stream, revision),
    /** The file may have other events than those that are known. */
    clear: (): void => ends.clear(),
  };
};

export type StreamEnds = ReturnType<typeof streamEnds>;
