import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Seen } from '../../store/sqliteShorter.ts';
import type { Header } from './snapshot.ts';

/** The name of the snapshot's file in DATA_DIR. */
export const snapshotName = 'read-models.snapshot';

const longestHeader = 4096;
const checksumSize = 64;

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
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([end, chunk]);
    checksum.update(bytes.subarray(0, -checksumSize));
    end = bytes.subarray(-checksumSize);
  }
  return checksum.digest('hex') === end.toString('latin1');
};

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
