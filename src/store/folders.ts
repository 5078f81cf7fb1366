import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that only its owner may open, and the missing folders above it. Node's own option `recursive` never
 * ends where no folder can be made, as below /proc.
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
      // The path exists. This call throws if it is a file.
      mkdirSync(folder, { recursive: true });
    } else {
      throw error;
    }
  }
};
