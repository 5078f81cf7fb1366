import { on, once } from 'node:events';
import { RequestError } from '../domain/engine/requestError.ts';
import { startWorker } from '../startWorker.ts';
import { isDamage } from './integrity.ts';
import type { Batch, StoredEvent } from './port.ts';
import type { Ahead, Chunk } from './sqliteAheadWorker.ts';
import { inWords } from './sqliteErrors.ts';
import { element } from './sqliteRows.ts';

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
 * Reads a log after a position up to another in a thread of its own, some chunks ahead of the consumer. So a long
 * replay handles one chunk while the next is read, and other work runs between the two. There is one such read at a
 * time. Answers undefined while another runs.
 */
export const readerAhead = (file: string): ((after: number, until: number) => AsyncIterable<Batch> | undefined) => {
  let busy = false;
  const read = async function* (after: number, until: number): AsyncGenerator<Batch> {
    busy = true;
    const worker = startWorker('sqliteAheadWorker', import.meta.url, { file, after, until } satisfies Ahead);
    // `on` throws the worker's error to the loop below.
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
