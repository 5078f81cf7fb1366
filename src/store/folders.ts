import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that only its owner may look into, and those above it that are missing. Node's own `recursive` never
 * ends where a folder cannot hold others, as below /proc.
 */
export const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const above = dirname(folder);
    if (code === 'ENOENT' && !existsSync(above)) {
      makeFolder(above);
      makeFolder(folder);
    } else if (code === 'EEXIST') {
      // It is there; this throws if it is a file.
      mkdirSync(folder, { recursive: true });
    } else {
      throw error;
    }
  }
};
