import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fromSource } from './fromSource.ts';

const root = new URL('../../', import.meta.url).pathname;

/** `npm test` puts the programs here, each in a few files (test/bundlePrograms.ts). */
export const bundledPrograms = join(root, 'node_modules/.cache/programs');

/** True if the file is newer than all sources. */
const isNewest = (file: string): boolean => {
  if (!existsSync(file)) return false;
  const { mtimeMs } = statSync(file);
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`);
  return ['src', ...packages].every((folder) => {
    const sources = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    return sources.every((name) => statSync(join(root, folder, name)).mtimeMs < mtimeMs);
  });
};

let program: ((entry: string) => readonly string[]) | undefined;

/** Programs as they are bundled, as they are built, or from source: each takes longer to start than the one before. */
const newestPrograms = (): typeof program => {
  if (isNewest(join(bundledPrograms, 'main.cjs')))
    return (file) => [join(bundledPrograms, file.replace(/\.ts$/, '.cjs'))];
  if (isNewest(join(root, 'dist/.tsbuildinfo'))) return (file) => [join(root, 'dist', file.replace(/\.ts$/, '.js'))];
  return (file) => [...fromSource(), join(root, 'src', file)];
};

/** The arguments of Node for a program of src. */
export const programOf = (entry: string): readonly string[] => {
  program ??= newestPrograms();
  return program!(entry);
};
