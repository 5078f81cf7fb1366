import '../../process/soundJson.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { ForeignSources } from '../../domain/sources.ts';
import { splitStream } from '../../store/event.ts';
import { openLogToRead } from '../../store/open.ts';
import { withPayloads } from '../../store/payloads.ts';
import type { StoredEvent } from '../../store/port.ts';
import { inWords } from '../../store/sqlite/errors.ts';
import type { LogUrl } from '../../store/url.ts';
import { projections } from '../all.ts';
import { type PastReads, pastReads } from './pastReads.ts';

/** `foreign`: the sources of other programs' events that count; all unless given. */
export type AsOfWork = { readonly log: LogUrl; readonly memory: number; readonly foreign?: ForeignSources | undefined };

/** One question, and its answer. The first argument of every read is the position. */
export type Asked = {
  readonly id: number;
  readonly read: keyof PastReads;
  readonly args: Parameters<PastReads[keyof PastReads]>;
};
export type Told =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failed: Failure };
type Failure = Pick<RequestError, 'code' | 'message' | 'retryAfterSeconds'>;

const { log: url, memory, foreign } = workerData as AsOfWork;
const port = parentPort as MessagePort;
const behindMs = 50;

const categories = new Set(projections.map(({ of }) => of.category));

/** True if a projection may use the event. Other events are not needed. */
const isProjected = ({ stream, type }: Pick<StoredEvent, 'stream' | 'type'>): boolean =>
  type.startsWith('@platform/') && categories.has(splitStream(stream).category);

const opened = async () => {
  const log = await openLogToRead(url, () => undefined);
  let head = 0;
  /** A reader of EventStoreDB may be behind the writer for a moment. */
  const waitForPosition = async (position: number): Promise<void> => {
    while (head < position) {
      head = await log.head();
      if (head < position) await pause(behindMs);
    }
  };
  return { log, reached: waitForPosition, reads: pastReads({ log: withPayloads(log, isProjected), memory, foreign }) };
};

const parts = opened();
// Without the log the thread ends with this error. The next question starts another thread.
const end = (error: unknown): void => {
  throw error;
};
parts.catch((error: unknown) => setImmediate(end, error));

const failureOf = (error: unknown): Failure => {
  if (!(error instanceof RequestError))
    return { code: 'internal', message: inWords(error), retryAfterSeconds: undefined };
  const { code, message, retryAfterSeconds } = error;
  return { code, message, retryAfterSeconds };
};

const answer = async ({ id, read, args }: Asked): Promise<Told> => {
  const { reads, reached } = await parts;
  try {
    await reached(args[0]);
    const ask = reads[read] as (...args: unknown[]) => Promise<unknown>;
    return { id, result: await ask(...args) };
  } catch (error) {
    return { id, failed: failureOf(error) };
  }
};

const close = async (): Promise<void> => {
  const { log } = await parts;
  await log.close();
};

const nothing = (): void => undefined;

port.on('message', (request: Asked | 'end') => {
  if (request !== 'end') {
    answer(request).then((answer) => port.postMessage(answer), nothing);
    return;
  }
  close()
    .catch(nothing)
    .finally(() => port.close());
});
