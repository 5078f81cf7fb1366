import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { faultsOf, measured } from '../../support/measured.ts';

const page = readFileSync('docs/architecture.md', 'utf8');
const figures = measured('src');
const faults = (text: string): readonly string[] => faultsOf(text, figures);

describe('the page of the architecture', () => {
  it('has a row for every folder, and counts that hold (npm run measures -- --write puts them right)', () =>
    assert.deepEqual(faults(page), []));

  it('is refused without the row of a folder, or with a count of another day', () => {
    assert.match(faults(page.replace('| `src/store` |', '| `src/stores` |')).join(), /no row: `src\/store`/);
    assert.match(faults(page.replace(/^\| files \|.*$/m, '| files | 1 | 2 | 3 |')).join(), /files: the page says 3,/);
  });

  it('src has at most six files beside its folders', () => {
    const files = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isFile());
    assert.ok(files.length <= 6, files.map(({ name }) => name).join(', '));
  });
});
