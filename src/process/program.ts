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

/** The signal aborts at the first SIGTERM or SIGINT, with this reason; a second one ends the process. */
export const stopSignal = (reason: string): AbortSignal => {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => (controller.signal.aborted ? process.exit(1) : controller.abort(new Error(reason))));
  return controller.signal;
};
