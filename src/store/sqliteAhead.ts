import { on, once } from 'node:events';
import { Refusal } from '../domain/engine/refusal.ts';
import { startWorker } from '../startWorker.ts';
import { isDamage } from './integrity.ts';
import type { Batch, StoredEvent } from './port.ts';
import type { Ahead, Chunk } from './sqliteAheadWorker.ts';
import { inWords } from './sqliteErrors.ts';

const chunksAhead = 4;

const batchOf = ({ position, numbers, texts }: Chunk): Batch => {
  const events: StoredEvent[] = [];
  for (let n = 0, t = 0; n < numbers.length; n += 2, t += 5)
    events.push({
      position: numbers[n]!,
      revision: numbers[n + 1]!,
      stream: texts[t]!,
      id: texts[t + 1]!,
      type: texts[t + 2]!,
      data: texts[t + 3]!,
      metadata: texts[t + 4]!,
    });
  return { events, position };
};

/**
 * Reads a log after a position up to another in a thread of its own, some chunks ahead of who takes them: a long replay
 * folds one while the next is read, and between the two others have their turn. One at a time; undefined meanwhile.
 */
export const readerAhead = (file: string): ((after: number, until: number) => AsyncIterable<Batch> | undefined) => {
  let busy = false;
  const read = async function* (after: number, until: number): AsyncGenerator<Batch> {
    busy = true;
    const worker = startWorker('sqliteAheadWorker', import.meta.url, { file, after, until } satisfies Ahead);
    // What it fails with comes to who waits for its chunks.
    const ended = once(worker, 'exit').catch(() => undefined);
    try {
      const chunks = on(worker, 'message', { close: ['exit'] });
      for (let n = 0; n < chunksAhead; n++) worker.postMessage('next');
      for await (const [chunk] of chunks as AsyncIterable<[Chunk]>) {
        worker.postMessage('next');
        yield batchOf(chunk);
        if (chunk.position === until) return;
      }
    } catch (cause) {
      throw isDamage(cause) ? cause : new Refusal('unavailable', inWords(cause), { cause });
    } finally {
      worker.postMessage('end');
      await ended;
      busy = false;
    }
  };
  return (after, until) => (busy ? undefined : read(after, until));
};
