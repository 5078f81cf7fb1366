import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Our packages that the code of documents imports, or that such a package imports. */
export const packagesOfDocuments = [
  '@automation-platform/concurrency',
  '@automation-platform/configurations',
  '@automation-platform/json',
];

/**
 * The digest of the code that makes documents. Read models that other code made are discarded. The digest changes with
 * every change of that code, even if the documents stay the same; so nobody has to raise a number by hand.
 */
export const projectionVersion = (): string => {
  version ??= digestOfCode();
  return version;
};

let version: string | undefined;

const digestOfCode = (): string => {
  const digest = createHash('sha256');
  const suffix = extname(import.meta.url);
  const folders = ['../', '../../domain/'].map((layer) => new URL(layer, import.meta.url));
  const { resolve } = createRequire(import.meta.url);
  const packages = packagesOfDocuments.map((name) => new URL('./', pathToFileURL(resolve(name))));
  for (const base of [...folders, ...packages]) {
    const files = readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(suffix));
    for (const file of files.sort()) digest.update(file).update(readFileSync(new URL(file, base)));
  }
  return digest.digest('base64url').slice(0, 16);
};
