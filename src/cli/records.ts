import { plainText } from '@automation-platform/client';
import { exactText } from '@automation-platform/json';
import type { Compared } from '../projections/foldLog.ts';
import type { Terminal } from './progress.ts';

/** An output of records. `columns` is the width of a terminal. */
export type RecordOutput = Terminal & { readonly columns?: number };

/** A column of a table: its heading, its width, and the text of a record in it. The last one takes what is left. */
export type Column<T> = { readonly heading: string; readonly width: number; readonly text: (record: T) => string };

const presetWidth = 200;

/**
 * Writes records: as lines of JSON, or on a terminal as a table, whose lines are cut off at its width. `write` resolves
 * when the output takes more.
 */
export const recordWriter = <T>(output: RecordOutput, columns: readonly Column<T>[]) => {
  const row = (textOf: (column: Column<T>) => string): string =>
    columns
      .map((column) => plainText(textOf(column)).replaceAll('\n', ' ').padEnd(column.width))
      .join(' ')
      .trimEnd();

  const lineOf = (record: T): string => {
    if (!output.isTTY) return exactText(record);
    const most = output.columns ?? presetWidth;
    const line = row(({ text }) => text(record));
    return line.length > most ? `${line.slice(0, most - 1)}…` : line;
  };

  if (output.isTTY) output.write(`${row(({ heading }) => heading)}\n`);
  return {
    write: async (record: T, signal?: AbortSignal): Promise<void> => {
      if (!output.write(`${lineOf(record)}\n`)) await drained(output, signal);
    },
  };
};

/** Resolves when the output takes more, or nobody waits for it. */
const drained = (output: RecordOutput, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      output.removeListener('drain', finish);
      output.removeListener('error', finish);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    output.once('drain', finish);
    output.once('error', finish);
    signal?.addEventListener('abort', finish);
  });

const shownIds = 20;

const columns: readonly Column<Compared>[] = [
  { heading: 'collection', width: 32, text: ({ name }) => name },
  { heading: 'documents', width: 10, text: ({ documents }) => String(documents) },
  { heading: 'differ', width: 10, text: ({ differences }) => String(differences.length) },
  { heading: 'ids', width: 0, text: ({ differences }) => differences.slice(0, shownIds).join(' ') },
];

/** Shows compared collections: all as lines of JSON, or on a terminal as a table. Gives whether any document differs. */
export const showCompared = async (
  collections: readonly Compared[],
  output: RecordOutput = process.stdout,
): Promise<boolean> => {
  const writer = recordWriter(output, columns);
  for (const one of collections) await writer.write(one);
  return collections.some(({ differences }) => differences.length > 0);
};
