import assert from 'node:assert/strict';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type ConsoleFiles, loadConsole } from '../../src/index.ts';

// Needs what `npm run check` compiles.
describe('files of the console', () => {
  let loaded: ConsoleFiles;
  before(async () => {
    loaded = await loadConsole();
  });

  const textOf = (path: string): string => String(loaded.files.get(path)!.bytes);
  const scripts = (): readonly string[] => [...loaded.files.keys()].filter((path) => path.endsWith('.js'));

  it('import one another by relative paths of files that are there', () => {
    const imports = /\b(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g;
    for (const path of scripts())
      for (const [, name] of textOf(path).matchAll(imports)) {
        if (!/^[.@a-z][\w./@-]*$/.test(name!)) continue;
        assert.match(name!, /^\.\.?\//, `${path}: ${name}`);
        const target = new URL(name!, `http://x/${path}`).pathname.slice(1);
        assert.ok(loaded.files.has(target), `${path}: ${name}`);
      }
  });

  /** The scripts that a view needs. */
  const scriptsOf = (view: string): ReadonlySet<string> => {
    const found = new Set(scripts().filter((path) => path.includes(`/page/${view}-`)));
    assert.equal(found.size, 1, view);
    for (const path of found)
      for (const [, name] of textOf(path).matchAll(/\b(?:from|import)\s*"(\.[^"\n]+)"/g))
        found.add(new URL(name!, `http://x/${path}`).pathname.slice(1));
    return found;
  };

  it('are few: less than ten for the start, and less than ten more for a view', () => {
    assert.ok(loaded.first.length < 10, loaded.first.join(' '));
    for (const view of ['run', 'jobs', 'devices', 'compliance', 'automations', 'triggers', 'time', 'people']) {
      const more = [...scriptsOf(view)].filter((path) => !loaded.first.includes(path));
      assert.ok(more.length > 0 && more.length < 10, more.join(' '));
    }
  });

  it('use nothing of Node', () => {
    for (const path of scripts()) assert.doesNotMatch(textOf(path), /from ?["']node:|\bBuffer\.|\bprocess\.\w/, path);
  });

  it('put nothing into the page as HTML, and make no code of text', () => {
    const own = scripts().filter((path) => path.includes('/page/'));
    for (const path of own)
      assert.doesNotMatch(
        textOf(path),
        /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function/,
        path,
      );
  });

  it('have a page without code or style of its own', () => {
    const page = String(loaded.page.bytes);
    assert.doesNotMatch(page, /<script(?![^>]* src=)|<style|\son\w+=|style=/);
    for (const [, path] of page.matchAll(/(?:href|src)="console\/([^"]+)"/g)) assert.ok(loaded.files.has(path!), path);
  });

  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  for (const [coding, compress] of [
    ['br', (bytes: Buffer) => brotliCompressSync(bytes, quality)],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
  ] as const) {
    const sizeOf = (paths: Iterable<string>): number =>
      [...paths].reduce((sum, path) => sum + compress(loaded.files.get(path)!.bytes).length, 0);

    it(`have less than 250 kB in all as ${coding}, the first view less than 80 kB`, () => {
      const styles = [...loaded.files.keys()].filter((path) => path.endsWith('/console.css'));
      assert.ok(sizeOf(loaded.files.keys()) < 250_000, `${sizeOf(loaded.files.keys())} bytes`);
      const first = [...loaded.first, ...styles];
      assert.ok(sizeOf(first) < 80_000, `${sizeOf(first)} bytes`);
    });
  }
});
