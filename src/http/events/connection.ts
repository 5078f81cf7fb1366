import type { ServerResponse } from 'node:http';
import { commentFrame, droppedFrame, type Reason } from './frames.ts';

/** How far a live reader may be behind. */
export type Limits = { readonly bytes: number; readonly ms: number };

/** A connection that takes nothing more gets this long to take its last frame, in milliseconds. */
const partingMs = 10_000;

/** Bytes to send: the position of the last event in them, and the time when they came. */
type Chunk = { readonly bytes: Buffer[]; readonly position: number; readonly since: number };

/**
 * The way to one reader, who has everything up to a position. One chunk is under way at a time; what comes meanwhile
 * waits by reference, so that bytes for many readers are held in memory once.
 */
export const connectionTo = (res: ServerResponse, after: number, limits: Limits) => {
  let underWay: Chunk | undefined;
  let waiting: Chunk | undefined;
  let waitingBytes = 0;
  let sent = after;
  let ended = res.destroyed;
  let whenIdle = (): void => undefined;

  const write = (chunk: Chunk): void => {
    underWay = chunk;
    sent = chunk.position;
    const { bytes } = chunk;
    res.write(bytes.length === 1 && bytes[0] ? bytes[0] : Buffer.concat(bytes), written);
  };

  const written = (): void => {
    underWay = undefined;
    const next = waiting;
    waiting = undefined;
    waitingBytes = 0;
    if (next && !ended) write(next);
    else whenIdle();
  };

  res.once('close', () => {
    ended = true;
    waiting = undefined;
    whenIdle();
  });

  return {
    ended: (): boolean => ended,
    /** Sends the events up to a position. */
    send: (more: Buffer, position: number): void => {
      if (ended) return;
      const now = performance.now();
      if (underWay) {
        const bytes = waiting?.bytes ?? [];
        bytes.push(more);
        waiting = { bytes, position, since: waiting?.since ?? now };
        waitingBytes += more.length;
      } else write({ bytes: [more], position, since: now });
    },
    /** Keeps the connection, unless something is under way anyhow. */
    comment: (position: number): void => {
      if (!ended && !underWay) write({ bytes: [commentFrame(position)], position: sent, since: performance.now() });
    },
    /** Whether the reader is further behind than a live reader may be. */
    isSlow: (): boolean =>
      waitingBytes > limits.bytes || (underWay !== undefined && performance.now() - underWay.since > limits.ms),
    /** Resolves when everything has been sent, or the connection has closed. */
    idle: (): Promise<void> =>
      underWay === undefined || ended
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenIdle = resolve;
          }),
    /** Ends the stream with the reason and the position of the last event that was sent. */
    end: (reason: Reason): void => {
      if (ended) return;
      if (waiting && reason !== 'slow') write(waiting);
      ended = true;
      waiting = undefined;
      res.end(droppedFrame(reason, sent));
      const parting = setTimeout(() => res.destroy(), partingMs).unref();
      res.once('close', () => clearTimeout(parting));
    },
    /** Breaks the connection off, without a word. */
    destroy: (): void => void res.destroy(),
  };
};

export type Connection = ReturnType<typeof connectionTo>;
