import { join } from 'node:path';
import { mayHaveParts } from '../../src/events/ownStreams.ts';
import type { Entry } from '../../src/projections/engine/port.ts';
import { foldLog } from '../../src/projections/foldLog.ts';
import { type Origin, snapshotName, writeSnapshot } from '../../src/projections/snapshots/snapshot.ts';
import { originOf } from '../../src/service/readModels.ts';
import { withPayloads } from '../../src/store/payloads.ts';
import { openSqliteReader } from '../../src/store/sqlite/store.ts';

type Entries = Iterable<readonly [string, Entry]>;

/** Three faults: a document is altered, one is missing, one is too many. */
const spoilt = function* (entries: Entries): Entries {
  for (const [collection, entry] of entries) {
    if (entry.id === 'ldap m5') continue;
    if (entry.id === 'ldap m3') yield [collection, { ...entry, text: entry.text.replace('["m3"]', '["other"]') }];
    else yield [collection, entry];
    if (entry.id === 'ldap m7') yield [collection, { ...entry, id: 'ldap mX', text: entry.text.replace('m7', 'mX') }];
  }
};

/** The group mappings in which a spoilt snapshot differs from its log, which has `m0`, `m1` and so on. */
export const faults = ['ldap m3', 'ldap m5', 'ldap mX'];

/** Writes the snapshot of a stopped service, with faults. */
export const spoilSnapshot = async (folder: string, more: Partial<Origin> = {}): Promise<void> => {
  const log = await openSqliteReader(join(folder, 'events.db'));
  try {
    const fold = await foldLog(withPayloads(log, mayHaveParts));
    await fold.foldTo();
    const origin = { ...originOf(log.id), ...more };
    await writeSnapshot(join(folder, snapshotName), origin, fold.at(), spoilt(fold.model.entries()));
  } finally {
    await log.close();
  }
};
