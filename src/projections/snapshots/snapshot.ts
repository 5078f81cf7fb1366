import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Seen } from '../../store/sqlite/shorter.ts';
import type { Change, Checkpoint, Entry } from '../engine/port.ts';

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

/**
 * The log from which a snapshot was made, and the version of the projections that made it. `shape` tells the collections
 * and their fields: versions of one shape can read each other's documents.
 */
export type Origin = { readonly log: string; readonly version: string; readonly shape?: string };

/** The first line of a snapshot. */
type Header = Origin & { readonly format: 1; readonly checkpoint: Checkpoint };

const lineFeed = 10;
const longestHeader = 4096;
const checksumSize = 64;
/** How many bytes are read at once: a snapshot may be larger than memory should hold. */
const bytesAtOnce = 2 ** 20;

const chunksOf = (file: string): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: bytesAtOnce });

const readHeader = async (file: string): Promise<Partial<Header> | undefined> => {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestHeader), 0, longestHeader, 0);
    return JSON.parse(buffer.toString('utf8', 0, bytesRead).split('\n', 1).join('')) as Partial<Header>;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
};

/** True if the file is unchanged since it was written, by its checksum. */
const isWhole = async (file: string): Promise<boolean> => {
  const checksum = createHash('sha256');
  let end = Buffer.alloc(0);
  for await (const chunk of chunksOf(file)) {
    const bytes = Buffer.concat([end, chunk]);
    checksum.update(bytes.subarray(0, -checksumSize));
    end = bytes.subarray(-checksumSize);
  }
  return checksum.digest('hex') === end.toString('latin1');
};

/** The lines of a snapshot between its header and its checksum. Each is a text of its own: none holds on to another. */
async function* linesIn(file: string): AsyncGenerator<readonly string[]> {
  let rest = Buffer.alloc(0);
  let isHeader = true;
  for await (const chunk of chunksOf(file)) {
    const bytes = Buffer.concat([rest, chunk]);
    const lines: string[] = [];
    let at = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, at)) {
      lines.push(bytes.toString('utf8', at, end));
      at = end + 1;
    }
    rest = bytes.subarray(at);
    yield isHeader ? lines.slice(1) : lines;
    isHeader &&= lines.length === 0;
  }
}

/** The name of the snapshot's file in DATA_DIR. */
export const snapshotName = 'read-models.snapshot';

/**
 * The last event of the log that a snapshot includes, whichever version of the projections made the snapshot. Empty if
 * there is no snapshot, or its header is damaged. `sure` reads the whole file to check it, so it is called only when
 * that matters.
 */
export const seenBySnapshot = async (file: string): Promise<readonly Seen[]> => {
  const { format, log, checkpoint } = (await readHeader(file)) ?? {};
  if (format !== 1 || log === undefined || checkpoint === undefined) return [];
  const { position, event: id } = checkpoint;
  return [{ log, position, id, by: `the snapshot ${basename(file)}`, sure: () => isWhole(file).catch(() => false) }];
};
