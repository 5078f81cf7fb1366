import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '../../../src/store/port.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { twoWriters } from '../../support/twoWriters.ts';

const overSqlite = (seenAs: (store: EventStore) => EventStore) => async () => {
  const folder = mkdtempSync(join(tmpdir(), 'two-writers-'));
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  return {
    store: seenAs(store),
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

twoWriters(
  'SQLite',
  overSqlite((store) => store),
  6,
);

// As from a server: what a writer has stored, others read before it hears of it.
twoWriters(
  'SQLite, whose answers come late',
  overSqlite((store) => ({
    ...store,
    append: async (...args) => {
      const appended = await store.append(...args);
      await pause(5);
      return appended;
    },
  })),
  3,
);
