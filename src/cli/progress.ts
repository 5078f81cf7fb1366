import type { Config } from '../config.ts';
/** An output of a command: a terminal, for people, or a file or a pipe. */
export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean };

const everyMs = 100;

/** Shows the progress of long work on a terminal, in one line that changes. `end` keeps the last line. */
export const progressLine = (output: Terminal, now: () => number = () => performance.now()) => {
  let last = now();
  let open = false;
  return {
    show: (text: () => string): void => {
      if (!output.isTTY || now() - last < everyMs) return;
      last = now();
      output.write(`\r\u001b[K${text()}`);
      open = true;
    },
    end: (): void => {
      if (open) output.write('\n');
      open = false;
    },
  };
};

/** The file of the log, for a command that a log in EventStoreDB cannot have. */
export const fileOfLog = ({ EVENTSTORE_URL: at }: Pick<Config, 'EVENTSTORE_URL'>, command: string): string => {
  if ('file' in at) return at.file;
  throw new Error(`${command} is for a log in a file (sqlite:); EventStoreDB has backups of its own, or use export`);
};
