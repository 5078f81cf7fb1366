import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundledPrograms } from './support/programs.ts';

/*
 * Bundles the programs that tests start, as `npm run build` made them, with the packages that they use, and keeps what V8
 * has compiled of them. Such a program starts in a third of the processor time of one in a thousand files. Threads and
 * processes that it starts come from `dist`.
 */

const programs = ['main', 'demo/main'];

const { projectionVersion } = await import(join(process.cwd(), 'dist/projections/engine/version.js'));

/**
 * A module knows its place in `dist`, and finds the files beside it there. A start does not read the code of documents again
 * for its digest.
 */
const places: Plugin = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const read = (file: string): string =>
        `Promise.resolve({ default: JSON.parse(require('node:fs').readFileSync(${JSON.stringify(join(dirname(path), file))}, 'utf8')) })`;
      if (path.endsWith('/projections/engine/version.js'))
        return { contents: `export const projectionVersion = () => ${JSON.stringify(projectionVersion())};` };
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replace(/import\('(\.\/\w+\.json)', attributes\)/g, (_, file: string) => read(file));
      return { contents, loader: 'js' };
    }),
};

/** Runs a bundle by what V8 has compiled of it. With KEEP_COMPILED, stores that when the process exits. */
const run = (bundle: string): string => `const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const filename = ${JSON.stringify(bundle)};
const compiled = filename + '.compiled';
const code = '(function (require, module, exports) {' + readFileSync(filename, 'latin1').replace('#!', '//') + '\\n})';
const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined;
const script = new Script(code, { filename, cachedData });
if (process.env.KEEP_COMPILED) process.on('exit', () => writeFileSync(compiled, script.createCachedData()));
script.runInThisContext()(createRequire(filename), module, exports);
`;

rmSync(bundledPrograms, { recursive: true, force: true });
await build({
  entryPoints: programs.map((name) => `dist/${name}.js`),
  outdir: bundledPrograms,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  supported: { 'dynamic-import': false },
  // These have native parts or files of their own, or are CommonJS that is imported by names when it is needed.
  external: ['@photostructure/sqlite', 'esbuild', 'selfsigned', 'ssh2', 'swagger-ui-dist'],
  plugins: [places],
  logLevel: 'error',
});
for (const name of programs) {
  const bundle = join(bundledPrograms, `${name}.js`);
  writeFileSync(bundle.replace(/js$/, 'cjs'), run(bundle));
}

// A start and a stop compile most of what tests need of it.
const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
const program = spawn(process.execPath, [join(bundledPrograms, 'main.cjs')], {
  env: {
    PATH: process.env.PATH,
    PORT: '0',
    DATA_DIR: folder,
    ADMIN_PASSWORD: 'correct horse battery',
    KEEP_COMPILED: '1',
  },
  stdio: ['ignore', 'ignore', 'pipe'],
});
for await (const line of createInterface(program.stderr)) if (line.includes('listens on')) program.kill('SIGTERM');
if (program.exitCode === null) await once(program, 'exit');
rmSync(folder, { recursive: true });
if (program.exitCode !== 0) throw new Error(`The program ended with ${program.exitCode}`);
