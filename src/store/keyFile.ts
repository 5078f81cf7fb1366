import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './folders.ts';

const durably = (fd: number, write: (fd: number) => void): void => {
  try {
    write(fd);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/**
 * Makes a file that only its owner may read (mode 0600), with a text. It appears complete or not at all. Returns the
 * file's text: if two processes do so at once, both get the text of the first.
 */
export const makeKeyFile = (file: string, text: string): string => {
  const folder = dirname(file);
  makeFolder(folder);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  durably(openSync(draft, 'wx', 0o600), (fd) => writeSync(fd, text));
  try {
    linkSync(draft, file);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFileSync(file, 'utf8');
    throw error;
  } finally {
    unlinkSync(draft);
    durably(openSync(folder, 'r'), () => undefined);
  }
};

/** The text of a file; undefined if there is no such file. */
export const textIn = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
