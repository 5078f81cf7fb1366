import { readFileSync } from 'node:fs';

type Package = { readonly version: string; readonly dependencies: Readonly<Record<string, string>> };

/** The version and the libraries in package.json. */
export const { version, dependencies }: Package = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
