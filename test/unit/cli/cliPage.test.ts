import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pageOf } from '../../../src/cli/engine/page.ts';
import { commands } from '../../../src/cli/table.ts';

const page = new URL('../../../docs/cli.md', import.meta.url);

describe('docs/cli.md', () => {
  it('is what the table of commands says', () => {
    const now = pageOf(commands);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, now);
    const kept = existsSync(page) ? readFileSync(page, 'utf8') : '';
    assert.equal(kept, now, 'Run npm run golden and read the difference');
  });
});
