import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { twoWriters } from './twoWriters.ts';

twoWriters('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'two-writers-'));
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  return { store, close: async () => { await store.close(); rmSync(folder, { recursive: true, force: true }); } };
});
