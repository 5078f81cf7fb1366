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
