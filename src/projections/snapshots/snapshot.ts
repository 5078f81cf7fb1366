import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { Change, Checkpoint, Entry } from '../engine/port.ts';
import { type Header, isWhole, linesIn, type Origin, readHeader } from './snapshotFile.ts';

const perChunk = 2000;

/**
 * Writes all documents with their checkpoint. Only the owner may read the file; it appears complete or not at all. Its
 * lines: the header; for each document its index fields and its text; last the SHA-256 of all before.
 */
export const writeSnapshot = async (
  file: string,
  origin: Origin,
  checkpoint: Checkpoint,
  entries: Iterable<readonly [string, Entry]>,
): Promise<void> => {
  const fresh = `${file}.new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    const checksum = createHash('sha256');
    for (const part of partsOf({ format: 1, ...origin, checkpoint }, entries)) {
      const bytes = Buffer.from(part);
      checksum.update(bytes);
      await handle.writeFile(bytes);
    }
    await handle.writeFile(checksum.digest('hex'));
    await handle.sync();
    await handle.close();
    await rename(fresh, file);
  } catch (error) {
    // An incomplete snapshot must not take up the last space on a disk.
    await handle.close().catch(() => undefined);
    await rm(fresh, { force: true });
    throw error;
  }
};

function* partsOf(header: Header, entries: Iterable<readonly [string, Entry]>): Generator<string> {
  let lines = [JSON.stringify(header), ''];
  for (const [collection, { id, text, revision, sorts, filters, guard }] of entries) {
    lines[lines.length - 1] = JSON.stringify([collection, id, revision, sorts, filters, guard]);
    lines.push(text, '');
    if (lines.length > 2 * perChunk) {
      yield lines.join('\n');
      lines = [''];
    }
  }
  yield lines.join('\n');
}

/** A snapshot. `version` is the version of the projections that made it. */
type Snapshot = {
  readonly version: string;
  readonly checkpoint: Checkpoint;
  readonly changes: AsyncIterable<readonly Change[]>;
};

/** How a snapshot may differ from what is asked for. */
type Choice = { readonly anyVersion: boolean };

/**
 * The snapshot of this origin; undefined if there is none, it has another origin, or it is damaged. With `anyVersion`,
 * another version of the same shape may have made it.
 */
export const readSnapshot = async (
  file: string,
  origin: Origin,
  { anyVersion }: Choice = { anyVersion: false },
): Promise<Snapshot | undefined> => {
  const { format, log, version, shape, checkpoint } = (await readHeader(file)) ?? {};
  if (format !== 1 || log !== origin.log || version === undefined || checkpoint === undefined) return undefined;
  const isReadable = version === origin.version || (anyVersion && shape !== undefined && shape === origin.shape);
  if (!isReadable || !(await isWhole(file).catch(() => false))) return undefined;
  return { version, checkpoint, changes: changesIn(file) };
};

async function* changesIn(file: string): AsyncGenerator<readonly Change[]> {
  let first: string | undefined;
  for await (const lines of linesIn(file)) {
    const changes: Change[] = [];
    for (const line of lines) {
      if (first === undefined) first = line;
      else {
        changes.push(changeIn(first, line));
        first = undefined;
      }
    }
    yield changes;
  }
}

type Fields = readonly [
  collection: string,
  id: string,
  revision: number,
  sorts: Entry['sorts'],
  filters: Entry['filters'],
  guard: string | null,
];

/** The document of two lines. */
const changeIn = (fields: string, text: string): Change => {
  const [collection, id, revision, sorts, filters, guard] = JSON.parse(fields) as Fields;
  const entry = { id, revision, sorts, filters, text };
  return { collection, id, entry: guard === null ? entry : { ...entry, guard } };
};
