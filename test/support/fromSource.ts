import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The options of Node for a program of TypeScript: it compiles what it reads, and takes packages from their sources. */
export const fromSource = (): string[] => [
  '--conditions=@automation-platform/source',
  '--import',
  pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
];
