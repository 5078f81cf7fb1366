import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Seen } from '../../store/sqliteShorter.ts';
import type { Header } from './snapshot.ts';

/** Its name in DATA_DIR. */
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

/** Whether the file is as it was written. */
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
 * The event of the log that a snapshot was made up to, whichever version of the projections made it. None when there is
 * no snapshot, or it is damaged; the whole file is read only when that matters.
 */
export const seenBySnapshot = async (file: string): Promise<readonly Seen[]> => {
  const { format, log, checkpoint } = (await readHeader(file)) ?? {};
  if (format !== 1 || log === undefined || checkpoint === undefined) return [];
  const { position, event: id } = checkpoint;
  return [{ log, position, id, by: `the snapshot ${basename(file)}`, sure: () => isWhole(file).catch(() => false) }];
};
