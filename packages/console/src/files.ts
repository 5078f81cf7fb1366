import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Modules, modulesFrom } from './modules.ts';

/** A file as it is sent. */
export type ConsoleFile = { readonly type: string; readonly bytes: Buffer };

export type ConsoleFiles = {
  /** The page itself, to be served at `<prefix>/console`. */
  readonly page: ConsoleFile;
  /** All other files by their path below `<prefix>/console/`. But for the icon it changes with the content of any of them. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  /** The files that the first view needs. */
  readonly first: readonly string[];
};

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const requiring = createRequire(import.meta.url);

/** A module that Node finds by its name, in the form that browsers read: the file beside the one that Node would take. */
const beside = (name: string, file: string): string => join(dirname(requiring.resolve(name)), file);

/** The modules that the page imports by their names. */
const named: Readonly<Record<string, () => string>> = {
  '@dagrejs/dagre': () => beside('@dagrejs/dagre', 'dagre.esm.js'),
  '@preact/signals': () => beside('@preact/signals', 'signals.mjs'),
  '@preact/signals-core': () => beside('@preact/signals-core', 'signals-core.mjs'),
  htm: () => beside('htm', 'htm.mjs'),
  preact: () => beside('preact', 'preact.mjs'),
  'preact/hooks': () => beside('preact/hooks', 'hooks.mjs'),
  uplot: () => beside('uplot', 'uPlot.esm.js'),
};

const script = 'text/javascript';
const start = 'page/start.js';

/** The page. It has no code and no style of its own: the content security policy allows neither. */
const pageOf = (folder: string, first: readonly string[]): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Automation Platform</title>
<link rel="icon" type="image/svg+xml" href="console/icon.svg">
<link rel="stylesheet" href="console/${folder}/console.css">
${first.map((path) => `<link rel="modulepreload" href="console/${path}">`).join('\n')}
<script type="module" src="console/${folder}/${start}"></script>
</head>
<body>
<noscript>The console needs JavaScript. The same operations are at <a href="docs">docs</a>.</noscript>
</body>
</html>
`;

const folderOf = (modules: Modules, style: ConsoleFile): string => {
  const hash = createHash('sha256');
  for (const [path, { text }] of modules.all) hash.update(path).update(text);
  return hash.update(style.bytes).digest('hex').slice(0, 12);
};

/**
 * Reads the files of the console: those that `npm run build` has compiled, and the libraries as they are installed. Rejects
 * if the console is not built.
 */
export const loadConsole = async (): Promise<ConsoleFiles> => {
  const modules = await modulesFrom(start, here('../dist/page/start.js'), named);
  const styles = [beside('uplot', 'uPlot.min.css'), here('../static/console.css')];
  const style = { type: 'text/css', bytes: Buffer.concat(await Promise.all(styles.map((file) => readFile(file)))) };
  const icon = { type: 'image/svg+xml', bytes: await readFile(here('../static/icon.svg')) };
  const folder = folderOf(modules, style);
  const files = new Map<string, ConsoleFile>([['icon.svg', icon]]);
  const put = (path: string, file: ConsoleFile): unknown => files.set(posix.join(folder, path), file);
  for (const [path, { text }] of modules.all) put(path, { type: script, bytes: Buffer.from(text) });
  put('console.css', style);
  const first = modules.first.map((path) => posix.join(folder, path));
  return { page: { type: 'text/html', bytes: Buffer.from(pageOf(folder, first)) }, files, first };
};
