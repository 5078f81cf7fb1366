import { createHash, hash } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import type { Change, Checkpoint, Entry } from '../engine/port.ts';

/**
 * The log from which a snapshot was made, and the version of the projections that made it. `shape` tells the collections
 * and their fields: versions of one shape can read each other's documents.
 */
export type Origin = { readonly log: string; readonly version: string; readonly shape?: string };

/** The first line of a snapshot. */
export type Header = Origin & { readonly format: 1; readonly checkpoint: Checkpoint };

const lineFeed = 10;
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
  const bytes = await readFile(file).catch(() => undefined);
  if (!bytes || bytes.length < 64) return undefined;
  const body = bytes.subarray(0, -64);
  if (hash('sha256', body, 'hex') !== bytes.subarray(-64).toString('latin1')) return undefined;
  const end = body.indexOf(lineFeed);
  const { format, log, version, shape, checkpoint } = JSON.parse(body.toString('utf8', 0, end)) as Header;
  const isReadable = version === origin.version || (anyVersion && shape !== undefined && shape === origin.shape);
  if (format !== 1 || log !== origin.log || !isReadable) return undefined;
  return { version, checkpoint, changes: changesIn(body, end + 1) };
};

// There may be millions of documents. Those without filters share an object, and those sorted by their id a text.
const noFilters: Entry['filters'] = {};

const sharedFilters = (filters: Entry['filters']): Entry['filters'] => {
  for (const _ in filters) return filters;
  return noFilters;
};

const sharedSorts = (id: string, sorts: Entry['sorts']): Entry['sorts'] => {
  const shared: Record<string, string> = {};
  for (const field in sorts) shared[field] = sorts[field] === id ? id : (sorts[field] ?? '');
  return shared;
};

async function* changesIn(body: Buffer, start: number): AsyncGenerator<readonly Change[]> {
  let chunk: Change[] = [];
  for (let at = start; at < body.length; ) {
    const middle = body.indexOf(lineFeed, at);
    const end = body.indexOf(lineFeed, middle + 1);
    const [collection, id, revision, sorts, filters, guard] = JSON.parse(body.toString('utf8', at, middle)) as [
      string,
      string,
      number,
      Entry['sorts'],
      Entry['filters'],
      string | null,
    ];
    const entry = {
      id,
      revision,
      sorts: sharedSorts(id, sorts),
      filters: sharedFilters(filters),
      text: body.toString('utf8', middle + 1, end),
    };
    chunk.push({ collection, id, entry: guard === null ? entry : { ...entry, guard } });
    if (chunk.length === perChunk) {
      yield chunk;
      chunk = [];
    }
    at = end + 1;
  }
  if (chunk.length > 0) yield chunk;
}
