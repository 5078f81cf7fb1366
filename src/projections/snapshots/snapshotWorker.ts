import '../../process/soundJson.ts';
import { workerData } from 'node:worker_threads';
import type { ForeignSources } from '../../domain/sources.ts';
import { openLogToRead } from '../../store/open.ts';
import { withPayloads } from '../../store/payloads.ts';
import type { LogUrl } from '../../store/url.ts';
import { foldLog, isProjected } from '../foldLog.ts';
import { type Origin, readSnapshot, writeSnapshot } from './snapshot.ts';

export type SnapshotWork = {
  readonly log: LogUrl;
  readonly file: string;
  readonly origin: Origin;
  /** The sources of other programs' events that count; all unless given. */
  readonly foreign?: ForeignSources | undefined;
};

// Makes the snapshot from the last one and the log, never from live memory: an error in memory must not be passed on.
const make = async ({ log, file, origin, foreign }: SnapshotWork): Promise<void> => {
  const store = withPayloads(await openLogToRead(log, () => undefined), isProjected);
  const fold = await foldLog(store, { load: () => readSnapshot(file, origin), foreign });
  const from = fold.at();
  await fold.foldTo();
  if (fold.at().position > from.position) await writeSnapshot(file, origin, fold.at(), fold.model.entries());
  await store.close();
};

void make(workerData as SnapshotWork);
