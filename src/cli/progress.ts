/** Where progress is shown: one line that changes on a terminal, now and then a line elsewhere. */
export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Shows how far long work is, seldom enough to cost nothing; `end` leaves the last line standing. */
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
