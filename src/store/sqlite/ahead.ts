import { on, once } from 'node:events';
import { RequestError } from '../../domain/engine/requestError.ts';
import { startWorker } from '../../process/startWorker.ts';
import { isDamage } from '../integrity.ts';
import type { Batch, StoredEvent } from '../port.ts';
import type { Ahead, Chunk } from './aheadWorker.ts';
import { inWords } from './errors.ts';
import { element } from './rows.ts';

const chunksAhead = 4;

const batchOf = ({ position, numbers, texts }: Chunk): Batch => {
  const events: StoredEvent[] = [];
  for (let n = 0; n < numbers.length / 2; n++) {
    const text = 5 * n;
    events.push({
      position: element(numbers, 2 * n),
      revision: element(numbers, 2 * n + 1),
      stream: element(texts, text),
      id: element(texts, text + 1),
      type: element(texts, text + 2),
      data: element(texts, text + 3),
      metadata: element(texts, text + 4),
    });
  }
  return { events, position };
};

/**
 * Returns a function that reads a log after one position up to another, in a thread of its own. The thread is some
 * chunks ahead of the consumer, so a long replay handles one chunk while the next is read. Between two chunks other
 * work can run. Only one such read runs at a time: meanwhile the function returns undefined.
 */
export const readerAhead = (file: string): ((after: number, until: number) => AsyncIterable<Batch> | undefined) => {
  let busy = false;
  const read = async function* (after: number, until: number): AsyncGenerator<Batch> {
    busy = true;
    const worker = startWorker('store/sqlite/aheadWorker', { file, after, until } satisfies Ahead);
    // The loop below gets the worker's error from `on`.
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
      throw isDamage(cause) ? cause : new RequestError('unavailable', inWords(cause), { cause });
    } finally {
      worker.postMessage('end');
      await ended;
      busy = false;
    }
  };
  return (after, until) => (busy ? undefined : read(after, until));
};
