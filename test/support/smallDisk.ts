import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './process.ts';

const run = (...[command, ...args]: readonly [string, ...string[]]): void => {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
};

const mount = (folder: string, megabytes: number): void =>
  run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder);

// Lazily: a process that is being killed may still have a file open.
const unmount = (folder: string): void => {
  run('umount', '-l', folder);
  rmSync(folder, { recursive: true, force: true });
};

const whyNone = (): string | undefined => {
  const folder = temporaryFolder();
  try {
    mount(folder, 1);
    unmount(folder);
    return undefined;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return 'needs the right to mount a small disk: root';
  }
};

/** Why no small disk can be had here; undefined when one can. */
export const noSmallDisk = whyNone();

/** A disk of so many MiB, in memory, that can be filled and emptied. */
export const smallDisk = (megabytes: number) => {
  const folder = temporaryFolder();
  mount(folder, megabytes);
  const ballast = join(folder, 'ballast');
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  return {
    data,
    /** Takes all room that is left. */
    fill: (): void => {
      const file = openSync(ballast, 'w');
      try {
        for (let size = 1024 * 1024; size >= 1; ) {
          try {
            if (writeSync(file, Buffer.alloc(size)) < size) size /= 2;
          } catch {
            size /= 2;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    /** Makes room again. */
    empty: (): void => rmSync(ballast, { force: true }),
    grow: (megabytes: number): void => run('mount', '-o', `remount,size=${megabytes}m`, folder),
    readOnly: (): void => run('mount', '-o', 'remount,ro', folder),
    remove: (): void => unmount(folder),
  };
};

export type SmallDisk = ReturnType<typeof smallDisk>;
