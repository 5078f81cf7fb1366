import { type PlatformEvent, subscribe } from '../client/index.ts';
import type { Access } from './askService.ts';
import type { Terminal } from './progress.ts';

/** Which events to show. */
export type TailOptions = {
  readonly source?: string;
  readonly topic?: string;
  readonly resource?: string;
  readonly from?: string;
};

/** The value of `--from`; undefined if it is none. */
export const fromIn = (text: string): 'start' | 'now' | number | undefined => {
  if (text === 'start' || text === 'now') return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};

const widths = [24, 10, 12, 44, 40];
const heading = ['at', 'position', 'actor', 'event', 'resource'];

const row = (cells: readonly string[], last: string): string =>
  `${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' ')} ${last}`;

// A terminal would obey control characters in an event.
const control = /[\u0000-\u001f\u007f-\u009f]/g;

/** An event as a line for people. What is too long for the terminal is cut off. */
const lineOf = ({ at, position, actor, source, topic, resource, data }: PlatformEvent, columns: number): string => {
  const text = row(
    [at, String(position), actor.username, `${source}:${topic}`, `${resource.kind}/${resource.id}`],
    JSON.stringify(data),
  ).replace(control, ' ');
  return text.length > columns ? `${text.slice(0, columns - 1)}…` : text;
};

type Output = Terminal & { readonly columns?: number };

/** Shows events as they happen, until the signal aborts: as lines of JSON, or on a terminal as a table. */
export const tailEvents = async (
  { source, topic, resource, from = 'now' }: TailOptions,
  { url, username, password }: Access,
  signal: AbortSignal,
  output: Output = process.stdout,
): Promise<void> => {
  const auth = { username, password };
  // Whoever read the output has gone: `events tail | head` ends so.
  const gone = new AbortController();
  output.once('error', () => gone.abort());
  const ending = AbortSignal.any([signal, gone.signal]);
  if (output.isTTY) output.write(`${row(heading, 'data')}\n`);
  for await (const event of subscribe({ url, auth, source, topic, resource, from: fromIn(from), signal: ending })) {
    const text = output.isTTY ? lineOf(event, output.columns ?? 200) : JSON.stringify(event);
    if (!output.write(`${text}\n`)) await drained(output, ending);
  }
};

/** Resolves when the output takes more, or nobody waits for it. */
const drained = (output: Output, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      output.removeListener('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    output.once('drain', done);
    signal.addEventListener('abort', done);
  });
