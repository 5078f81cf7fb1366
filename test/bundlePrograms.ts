import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundledPrograms } from './support/programs.ts';

/*
 * Bundles the programs that tests start, as `npm run build` made them, with the packages that they use. A program in a few
 * files starts in half the processor time of one in a thousand. Threads and processes that it starts come from `dist`.
 */

/** A module knows its place in `dist`, and finds the files beside it there. */
const places: Plugin = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const beside = (file: string): string => pathToFileURL(join(dirname(path), file)).href;
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replace(/import\('(\.\/\w+\.json)'/g, (_, file: string) => `import('${beside(file)}'`);
      return { contents, loader: 'js' };
    }),
};

const requireOfNode =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

rmSync(bundledPrograms, { recursive: true, force: true });
await build({
  entryPoints: ['dist/main.js', 'dist/demo/main.js'],
  outdir: bundledPrograms,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  // These have native parts or files of their own, or are CommonJS that is imported by names when it is needed.
  external: ['@photostructure/sqlite', 'esbuild', 'selfsigned', 'ssh2', 'swagger-ui-dist'],
  banner: { js: requireOfNode },
  plugins: [places],
  logLevel: 'error',
});
