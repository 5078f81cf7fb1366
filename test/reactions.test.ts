import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { writer } from './writer.ts';

describe('reactions', () => {
  it('keep how far they have come once a second at most, and when they stop', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reactions-'));
    const store = await openSqliteStore({ file: join(folder, 'events.db') });
    const set: number[] = [];
    const node = writer({ ...store, setCheckpoint: (name, position) => { set.push(position); return store.setCheckpoint(name, position); } });
    const began = Date.now();
    for (let n = 0; n < 20; n++) await node.fill(`box${n}`, [{ id: `a${n}`, name: `a${n}` }]);
    for (let n = 0; n < 20; n++) while ((await node.state(`a${n}`)).name === undefined) await new Promise(setImmediate);
    await node.stop();
    const seconds = (Date.now() - began) / 1000;
    assert.ok(set.length >= 1 && set.length <= seconds + 2, `${set.length} in ${seconds} s`);
    assert.equal(await store.checkpoint('reactions'), set.at(-1));
    assert.deepEqual(set, [...set].sort((a, b) => a - b));
    await store.close();
    rmSync(folder, { recursive: true });
  });
});
