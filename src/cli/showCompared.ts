import type { Compared } from '../projections/foldLog.ts';
import { type Column, type RecordOutput, recordWriter } from './records.ts';

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
