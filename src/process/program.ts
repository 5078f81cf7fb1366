import { plainText } from '@automation-platform/client';
import { withoutLogins } from './withoutLogins.ts';

/** The message of an error for a terminal. It may repeat words of other programs. */
export const sentenceOf = (error: unknown): string =>
  plainText(withoutLogins(error instanceof Error ? error.message : String(error)));

/** Ends the process with status 1 and one sentence. A stack does not help a person who has a setting wrong. */
export const fail = (error: unknown): never => {
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exit(1);
};

/** A reader that has gone is no error (`audit log | head`). A full disk is one. */
export const outputFailed = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') fail(error);
};

// With `npm start`, Ctrl-C arrives twice: from the terminal, and passed on by npm.
const sameSignalMs = 1000;

/** Calls `stop` at the first SIGTERM or SIGINT, and `end` at one that arrives more than a second later. */
export const onStopSignal = (stop: (signal: NodeJS.Signals) => void, end: () => void): void => {
  let first: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (first === undefined) {
        first = performance.now();
        stop(signal);
      } else if (performance.now() - first > sameSignalMs) end();
    });
};

/** The signal aborts at the first SIGTERM or SIGINT, with this reason; a later one ends the process. */
export const stopSignal = (reason: string): AbortSignal => {
  const controller = new AbortController();
  onStopSignal(
    () => controller.abort(new Error(reason)),
    () => process.exit(1),
  );
  return controller.signal;
};
