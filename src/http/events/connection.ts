import type { ServerResponse } from 'node:http';
import { commentFrame, droppedFrame, type Reason } from './frames.ts';

/** How many bytes are sent at once, unless one frame is longer. So little is held in memory for a reader who is behind. */
export const mostBytes = 64 * 1024;

/**
 * The way to one reader, who has everything up to a position. Nothing waits here: who sends waits until the connection is
 * idle.
 */
export const connectionTo = (res: ServerResponse, after: number, partingMs: number) => {
  let underWay = 0;
  let length = 0;
  let takenAt = 0;
  let sent = after;
  let ended = res.destroyed;
  let whenIdle = (): void => undefined;

  const write = (bytes: Buffer): void => {
    if (underWay++ === 0) takenAt = performance.now();
    length += bytes.length;
    res.write(bytes, () => {
      takenAt = performance.now();
      length -= bytes.length;
      if (--underWay === 0) whenIdle();
    });
  };

  const close = (): void => {
    ended = true;
    whenIdle();
  };
  res.once('close', close);

  return {
    ended: (): boolean => ended,
    /** Sends the events up to a position. */
    send: (bytes: Buffer, position: number): void => {
      if (ended) return;
      sent = position;
      write(bytes);
    },
    /** Keeps the connection, unless something is under way anyhow. */
    comment: (position: number): void => {
      if (!ended && underWay === 0) write(commentFrame(position));
    },
    /** True if everything was taken that was sent. */
    isIdle: (): boolean => underWay === 0,
    /** How many bytes were sent and not taken yet, also after the end of the stream. */
    underWay: (): number => length,
    /** For how many milliseconds the reader has taken nothing of what is under way. */
    takesNothingFor: (): number => (underWay === 0 ? 0 : performance.now() - takenAt),
    /** Resolves when everything was taken, or the stream has ended. */
    idle: (): Promise<void> =>
      underWay === 0 || ended
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenIdle = resolve;
          }),
    /**
     * Ends the stream with the reason and the position of the last event that was sent. A reader who takes nothing gets
     * some time to come back for it.
     */
    end: (reason: Reason): void => {
      if (ended) return;
      res.end(droppedFrame(reason, sent));
      close();
      const parting = setTimeout(() => res.destroy(), partingMs).unref();
      res.once('close', () => clearTimeout(parting));
    },
    /** Breaks the connection off, without a word. */
    destroy: (): void => void res.destroy(),
  };
};

export type Connection = ReturnType<typeof connectionTo>;
