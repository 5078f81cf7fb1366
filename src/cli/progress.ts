/** The output of progress: a terminal shows one line that changes; other outputs get a line now and then. */
export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Shows the progress of long work, so seldom that it costs nothing. `end` keeps the last line. */
export const progressLine = (output: Terminal, now: () => number = () => performance.now()) => {
  const every = output.isTTY ? 100 : 5000;
  let last = now();
  let open = false;
  return {
    show: (text: () => string): void => {
      if (now() - last < every) return;
      last = now();
      output.write(output.isTTY ? `\r\u001b[K${text()}` : `${text()}\n`);
      open = output.isTTY === true;
    },
    end: (): void => {
      if (open) output.write('\n');
      open = false;
    },
  };
};
