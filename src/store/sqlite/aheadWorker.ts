import '../../process/soundJson.ts';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { reading } from './errors.ts';
import { connectToRead } from './log.ts';
import { sqliteReads } from './reads.ts';

/** A part of a log to read: everything after a position up to another. */
export type Ahead = { readonly file: string; readonly after: number; readonly until: number };

/**
 * Some events in flat lists, which cross threads cheaply. `numbers`: position and revision of each. `texts`: stream,
 * id, type, data and metadata of each. `position`: how far the log is read.
 */
export type Chunk = {
  readonly position: number;
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
};

const port = parentPort as MessagePort;
const { file, after, until } = workerData as Ahead;
const reads = sqliteReads(reading(() => connectToRead(file)));
const chunk = reads.chunks(undefined);
let position = after;

const next = (): void => {
  const { events, position: reached } = chunk(position, until);
  position = reached;
  const [numbers, texts]: [number[], string[]] = [[], []];
  for (const { position, revision, stream, id, type, data, metadata } of events) {
    numbers.push(position, revision);
    texts.push(stream, id, type, data, metadata);
  }
  port.postMessage({ position, numbers, texts } satisfies Chunk);
};

port.on('message', (order: 'next' | 'end') => {
  if (order === 'end') {
    reads.close();
    port.close();
  } else if (position < until) {
    next();
  }
});
