import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Checkpoint } from '../engine/port.ts';

/**
 * The log from which a snapshot was made, and the version of the projections that made it. `shape` tells the collections
 * and their fields: versions of one shape can read each other's documents.
 */
export type Origin = { readonly log: string; readonly version: string; readonly shape?: string };

/** The first line of a snapshot. */
export type Header = Origin & { readonly format: 1; readonly checkpoint: Checkpoint };

const lineFeed = 10;
const longestHeader = 4096;
const checksumSize = 64;
/** How many bytes are read at once: a snapshot may be larger than memory should hold. */
const bytesAtOnce = 2 ** 20;

const chunksOf = (file: string): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: bytesAtOnce });

export const readHeader = async (file: string): Promise<Partial<Header> | undefined> => {
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
export const isWhole = async (file: string): Promise<boolean> => {
  const checksum = createHash('sha256');
  let end = Buffer.alloc(0);
  for await (const chunk of chunksOf(file)) {
    const bytes = Buffer.concat([end, chunk]);
    checksum.update(bytes.subarray(0, -checksumSize));
    end = bytes.subarray(-checksumSize);
  }
  return checksum.digest('hex') === end.toString('latin1');
};

/** The lines of a snapshot between its header and its checksum. Each is a text of its own: none holds on to others. */
export async function* linesIn(file: string): AsyncGenerator<readonly string[]> {
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
