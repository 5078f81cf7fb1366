import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every file below the data folder of a running service, by name and as bytes. Another process reads them: closing a
 * file of an open log with node:fs would drop the locks that SQLite holds on it in this process.
 */
export const keptFiles = (folder: string): readonly { readonly name: string; readonly bytes: Buffer }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => ({
      name,
      bytes: execFileSync('cat', [join(parentPath, name)], { maxBuffer: 1 << 30 }),
    }));
