import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { statusOf } from '../src/http/errors.ts';

const root = new URL('../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

describe('the documentation', () => {
  it('has every code with its status, and no other', () => {
    const rows = [...read('docs/status-codes.md').matchAll(/^\| (\w+) \| (\d+) \| (.+) \|$/gm)];
    assert.deepEqual(rows.map(([, code, status]) => [code, Number(status)]), Object.entries(statusOf));
  });

  for (const file of readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'))) {
    it(`${file} names files and scripts that are there`, () => {
      const text = read(`docs/${file}`);
      for (const [, path] of text.matchAll(/`((?:src|test|docs|bench)\/[\w./-]+)`/g)) assert.ok(existsSync(new URL(path!, root)), `There is no ${path}`);
      const { scripts } = JSON.parse(read('package.json'));
      for (const [, script] of text.matchAll(/`npm run (\w+)`/g)) assert.ok(script! in scripts, `There is no npm run ${script}`);
    });
  }
});
