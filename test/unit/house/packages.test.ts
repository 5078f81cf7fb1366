import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { packagesOfDocuments } from '../../../src/projections/engine/version.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly bundleDependencies?: readonly string[];
};
const manifestOf = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json'))) as Manifest;

const scope = '@automation-platform/';
const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
const names = folders.map((folder) => manifestOf(folder).name);

/** The imports of a file: a relative file by its path from the root, a module by its name. */
const importsOf = (file: string): readonly string[] =>
  [...read(file).matchAll(/(?:\bfrom|^import) '([^']+)'|\bimport\('([^']+)'\)/gm)]
    .map(([, from, later]) => from ?? later!)
    .map((from) => (from.startsWith('.') ? join(dirname(file), from) : from));

/** The package of a module: `@scope/name` or `name`. */
const packageOf = (module: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(module)![0];

/** Our packages that some files use, with those that these use in turn. */
const usedBy = (files: readonly string[]): readonly string[] => {
  const found = new Set(files.flatMap(importsOf).filter((from) => from.startsWith(scope)));
  for (const name of found)
    for (const used of Object.keys(manifestOf(name.replace(scope, 'packages/')).dependencies ?? {}))
      if (used.startsWith(scope)) found.add(used);
  return [...found];
};

describe('packages', () => {
  for (const folder of folders) {
    const { name, version, dependencies = {} } = manifestOf(folder);
    const sources = sourcesIn(`${folder}/src`);

    describe(name, () => {
      it('has the name of its folder, a version and a page', () => {
        assert.equal(name, folder.replace('packages/', scope));
        assert.match(version, /^\d+\.\d+\.\d+$/);
        assert.match(read(`${folder}/README.md`), new RegExp(`^# ${name}\n`));
      });

      it('imports its own files, modules of Node and its dependencies, each of which it uses', () => {
        const imported = sources.flatMap(importsOf).filter((from) => !from.startsWith('node:'));
        const outside = imported.filter((from) => from.includes('/src/') && !from.startsWith(`${folder}/src/`));
        assert.deepEqual(outside, []);
        const used = imported.filter((from) => !from.startsWith(folder)).map(packageOf);
        assert.deepEqual([...new Set(used)].sort(), Object.keys(dependencies).sort());
      });

      it('is tested by what it exports', () => {
        const within = sourcesIn(`${folder}/test`).flatMap(importsOf);
        const odd = within.filter((from) => /(^|\/)src\//.test(from) && from !== `${folder}/src/index.ts`);
        assert.deepEqual(odd, []);
      });

      it('has every export on its page', () => {
        const exported = [...read(`${folder}/src/index.ts`).matchAll(/export (?:type )?\{([^}]+)\}/g)]
          .flatMap(([, list]) => list!.split(','))
          .map((one) => one.trim().replace(/^type /, ''))
          .filter((one) => one !== '');
        const page = read(`${folder}/README.md`);
        assert.deepEqual(
          exported.filter((one) => !new RegExp(`\\b${one}\\b`).test(page)),
          [],
        );
      });
    });
  }

  it('are imported by their names, and nobody imports a file within', () => {
    const files = ['src', 'test', 'bench', ...folders].flatMap(sourcesIn);
    const deep = files.flatMap((file) =>
      importsOf(file)
        .filter((from) => from.startsWith('packages/') && !file.startsWith(from.split('/', 2).join('/')))
        .concat(importsOf(file).filter((from) => from.startsWith(scope) && !names.includes(from)))
        .map((from) => `${file}: ${from}`),
    );
    assert.deepEqual(deep, []);
  });

  it('are in the tarball of the program', () => {
    const { dependencies = {}, bundleDependencies } = manifestOf('.');
    assert.deepEqual([...(bundleDependencies ?? [])].sort(), [...names].sort());
    for (const folder of folders) {
      const { name, version } = manifestOf(folder);
      assert.equal(dependencies[name], `^${version}`);
    }
  });

  it('have one version of each dependency, that of the program', () => {
    const ours = manifestOf('.') as Manifest & { readonly devDependencies: Readonly<Record<string, string>> };
    const all = { ...ours.devDependencies, ...ours.dependencies };
    for (const folder of folders)
      for (const [name, range] of Object.entries(manifestOf(folder).dependencies ?? {}))
        assert.equal(range, all[name] ?? range, `${folder}: ${name}`);
  });

  it('that documents are made with count in the version of their code', () => {
    const files = ['src/domain', 'src/projections'].flatMap(sourcesIn);
    assert.deepEqual([...packagesOfDocuments].sort(), [...usedBy(files)].sort());
  });
});
