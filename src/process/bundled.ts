import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = import.meta.url;
const packages = new URL('../../packages/', here);

/** True where the program runs from its sources: nobody has compiled what a thread or a process of its own loads. */
export const isSource = extname(here) === '.ts';

/** The file of a module. `name`: its path from `src` without extension. */
export const fileOf = (name: string): string => fileURLToPath(new URL(`../${name}${extname(here)}`, here));

/** The sources of our packages, by their names. */
const ownPackages = (): Record<string, string> => {
  const sourceOf = (name: string): string => fileURLToPath(new URL(`${name}/src/index.ts`, packages));
  return Object.fromEntries(readdirSync(packages).map((name) => [`@automation-platform/${name}`, sourceOf(name)]));
};

const bundles = new Map<string, string>();

/**
 * A module from source with all that it imports from here and from our packages, as one script. It is compiled once for
 * all threads and processes that run it. The first `import.meta` in it is this file's.
 */
export const bundled = (name: string): string => {
  const bundle = bundles.get(name);
  if (bundle !== undefined) return bundle;
  const { buildSync } = createRequire(here)('esbuild') as typeof import('esbuild');
  const { outputFiles } = buildSync({
    entryPoints: [fileOf(name)],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    alias: ownPackages(),
    define: { 'import.meta.url': JSON.stringify(here) },
    // `require` finds packages from here, `import()` from the folder of the process.
    supported: { 'dynamic-import': false },
    write: false,
  });
  const script = `((require) => {${outputFiles[0]?.text}\n})(require('node:module').createRequire(${JSON.stringify(here)}));`;
  bundles.set(name, script);
  return script;
};
