import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { clientOperations } from '../../support/clientOperations.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const file = 'packages/client/src/operations.ts';

describe('the operations of the client', () => {
  it('are those of the description of the API', () => {
    const made = clientOperations(JSON.parse(read('test/golden/openapi.json')));
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(new URL(file, root), made);
    assert.ok(read(file) === made, `${file} is not current: npm run golden`);
  });
});
