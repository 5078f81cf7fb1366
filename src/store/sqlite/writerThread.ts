import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../process/startWorker.ts';
import { inWords } from './errors.ts';
import { type AsLeft, inodeOf, type WriterOptions } from './transactions.ts';
import type { Failure, Request, Told, WriterData } from './writer.ts';

type Needs = {
  readonly options: WriterOptions;
  /** The log's id. */
  readonly log: string;
  /** The newest event that was acknowledged since the store was opened. */
  readonly acknowledged: () => AsLeft['acknowledged'];
  readonly report: (onMessage: Told) => void;
};

const shortestPauseMs = 100;
const longestPauseMs = 5000;
const leastRoom = 1024 * 1024;

/** True if the disk has room for more. A file system that does not tell its size counts as having room. */
const hasRoom = (folder: string): boolean => {
  const { blocks, bavail, bsize } = statfsSync(folder);
  return blocks === 0 || bavail * bsize >= leastRoom;
};

/** A failure that the thread could not report itself. */
const failureOf = (reason: string): Failure => ({ reason, full: false, forGood: false, unsure: Infinity });

/**
 * Keeps a writer's thread running. When it has failed, another one opens the log again: at once the first time, then
 * after longer and longer pauses until something is stored again. After a full disk it waits for room.
 */
export const writerThread = ({ options, log, acknowledged, report }: Needs) => {
  const folder = dirname(options.file);
  const inode = inodeOf(options.file);
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause = 0;
  let full = false;
  let ending = false;
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });

  const startLater = (): void => {
    if (ending) {
      ended();
      return;
    }
    timer = setTimeout(start, pause);
    pause = Math.min(Math.max(shortestPauseMs, pause * 2), longestPauseMs);
  };

  const start = (): void => {
    timer = undefined;
    try {
      if (full && !hasRoom(folder)) {
        startLater();
        return;
      }
    } catch {
      /* If the folder has an error, the thread reports it when it opens the file. */
    }
    const workerData: WriterData = { ...options, log, left: { inode, acknowledged: acknowledged() } };
    let failure: Failure | undefined;
    const starting = startWorker('store/sqlite/writer', workerData);
    starting.on('message', (message: Told) => {
      if ('failed' in message) failure = message.failed;
      else hear(starting, message);
    });
    starting.on('error', (error) => {
      failure ??= failureOf(inWords(error));
    });
    starting.on('exit', () => onExit(failure));
  };

  const hear = (from: Worker, message: Told): void => {
    if ('ready' in message) worker = from;
    if ('settled' in message && message.settled.some((number, at) => at % 2 === 1 && number > 0)) pause = 0;
    report(message);
  };

  const onExit = (failure: Failure | undefined): void => {
    worker = undefined;
    if (!failure && ending) {
      ended();
      return;
    }
    const failed = failure ?? failureOf('its thread has ended');
    full = failed.full;
    report({ failed });
    if (failed.forGood) ended();
    else startLater();
  };

  start();
  return {
    send: (request: Request): void => worker?.postMessage(request),
    /**
     * Ends the thread. Every request must be answered before. While a new thread starts, there is none to end: the
     * caller calls again when it is ready.
     */
    finish: (): Promise<void> => {
      ending = true;
      worker?.postMessage(null);
      if (timer) {
        clearTimeout(timer);
        ended();
      }
      return end;
    },
  };
};
