import { readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';

type Module = { readonly text: string; readonly uses: readonly { readonly path: string; readonly isLater: boolean }[] };

export type Modules = {
  /** All modules by their paths. */
  readonly all: ReadonlyMap<string, Module>;
  /** The paths of those that are there before the first line runs. */
  readonly first: readonly string[];
};

// Imports and exports of other modules, those that are loaded later too, and those without spaces.
const imports = /\b(from|import)(\s*\(?\s*)(["'])([^"'\n]+)\3/g;
const sourceMap = /\n\/\/# sourceMappingURL=.*\s*$/;

/**
 * Reads a module and all that it imports, and writes relative paths in place of names, because browsers do not know
 * where packages are. `path` is the module's own path, `file` where it lies, `named` finds modules that are imported by
 * their names.
 */
export const modulesFrom = async (
  path: string,
  file: string,
  named: Readonly<Record<string, () => string>>,
): Promise<Modules> => {
  const all = new Map<string, Module>();
  const read = async (path: string, file: string): Promise<void> => {
    if (all.has(path)) return;
    const found: { path: string; file: string; isLater: boolean }[] = [];
    const source = await readFile(file, 'utf8');
    const text = source.replace(sourceMap, '\n').replace(imports, (whole, ...parts: string[]) => {
      const [keyword = '', space = '', quote = '', name = ''] = parts;
      const inner = name.startsWith('.');
      const resolve = Object.hasOwn(named, name) ? named[name] : undefined;
      if (!inner && !resolve) return whole;
      const target = inner ? posix.join(posix.dirname(path), name) : placeOf(name);
      found.push({
        path: target,
        file: resolve ? resolve() : join(dirname(file), name),
        isLater: space.includes('('),
      });
      const relative = posix.relative(posix.dirname(path), target);
      return `${keyword}${space}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
    });
    all.set(path, { text, uses: found });
    for (const use of found) await read(use.path, use.file);
  };
  await read(path, file);
  return { all, first: [...atOnce(path, all)] };
};

/** The place of a module that is imported by its name: a folder of its own, because it may have files beside it. */
const placeOf = (name: string): string => `lib/${name.replace('@', '').replaceAll('/', '-')}/index.js`;

const atOnce = (path: string, all: ReadonlyMap<string, Module>): ReadonlySet<string> => {
  const found = new Set([path]);
  for (const one of found) for (const use of all.get(one)?.uses ?? []) if (!use.isLater) found.add(use.path);
  return found;
};
