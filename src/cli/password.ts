import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** The source of a password: standard input, a terminal or not. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Reads a password. On a terminal it asks twice and does not show the typed text; otherwise it reads one line. */
export const readPassword = async (input: Input, output: NodeJS.WritableStream): Promise<string> => {
  if (!input.isTTY) return line(input);
  const password = await typed('New password: ', input, output);
  if ((await typed('Once more: ', input, output)) !== password) throw new Error('The two are not the same');
  return password;
};

/** Reads the password of an account that exists. On a terminal it asks once. */
export const enterPassword = (prompt: string, input: Input, output: NodeJS.WritableStream): Promise<string> =>
  input.isTTY ? typed(prompt, input, output) : line(input);

const line = async (input: Input): Promise<string> => {
  for await (const first of createInterface({ input, crlfDelay: Infinity })) return first;
  return '';
};

const typed = (prompt: string, input: Input, output: NodeJS.WritableStream): Promise<string> => {
  const nowhere = new Writable({ write: (_, __, callback) => callback() });
  const reading = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  output.write(prompt);
  return new Promise<string>((resolve, reject) => {
    reading.once('line', resolve);
    reading.once('close', () => reject(new Error('No password was given')));
  }).finally(() => {
    reading.close();
    output.write('\n');
  });
};
