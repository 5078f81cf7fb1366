import { basename } from 'node:path';
import type { Seen } from '../../store/sqlite/shorter.ts';
import { isWhole, readHeader } from './snapshotFile.ts';

/** The name of the snapshot's file in DATA_DIR. */
export const snapshotName = 'read-models.snapshot';

/**
 * The last event of the log that a snapshot includes, whichever version of the projections made the snapshot. Empty if
 * there is no snapshot, or its header is damaged. `sure` reads the whole file to check it, so it is called only when
 * that matters.
 */
export const seenBySnapshot = async (file: string): Promise<readonly Seen[]> => {
  const { format, log, checkpoint } = (await readHeader(file)) ?? {};
  if (format !== 1 || log === undefined || checkpoint === undefined) return [];
  const { position, event: id } = checkpoint;
  return [{ log, position, id, by: `the snapshot ${basename(file)}`, sure: () => isWhole(file).catch(() => false) }];
};
