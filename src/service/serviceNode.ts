import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Log } from '../concurrency/log.ts';
import { auditKeySource, type Config, secretKeyFile } from '../config.ts';
import { defined } from '../domain/engine/defined.ts';
import { mayHaveParts } from '../events/ownStreams.ts';
import { areas } from '../http/areas.ts';
import { methodsOf } from '../http/authorization/methods.ts';
import { withoutLogins } from '../process/withoutLogins.ts';
import { seenBySnapshot, snapshotName } from '../projections/snapshots/snapshotSeen.ts';
import { keyOfLog } from '../secrets/keyCheck.ts';
import { passwords } from '../secrets/passwords.ts';
import { secrets } from '../secrets/secrets.ts';
import { makeFolder } from '../store/folders.ts';
import { type OpenedLog, openLog } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { keysOrNew } from '../store/proof/keys.ts';
import { importingCheckpoint } from '../store/readers.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { leadOf } from './leading.ts';
import { openNode } from './node.ts';
import { openNodeClock } from './nodeClock.ts';
import { nodeNameOf } from './nodeName.ts';
import { type Patiently, patience } from './patience.ts';
import { readModelsOf } from './readModels.ts';
import { blaming } from './startFaults.ts';

/**
 * Opens the node that the settings describe. Throws a `StartFault` if a setting is wrong. Waits for a log that answers
 * slowly until `leaving` aborts.
 */
export const openServiceNode = async (config: Config, warn: Log, leaving: AbortSignal) => {
  const { DATA_DIR, EVENTSTORE_URL: at } = config;
  const unlock = await blaming(`DATA_DIR ${DATA_DIR}`, () => {
    checkFolder(DATA_DIR);
    // The folder of an embedded log has a lock of its own.
    return 'file' in at ? () => undefined : lockFolder(join(DATA_DIR, 'lock.db'), 'runs');
  });
  let opened: OpenedLog | undefined;
  let clock: GuardedClock | undefined;
  try {
    opened = await openItsLog(config, warn, leaving);
    const log = storeIn(opened);
    const patiently = patience({ opened, leaving, warn });
    await patiently(() => refuseHalfImported(log));
    clock = await openNodeClock({ opened, patiently, warn });
    return await openNodeOn(config, opened, { clock, patiently, warn, unlock });
  } catch (error) {
    clock?.stop();
    if (opened) await storeIn(opened).close();
    unlock();
    throw error;
  }
};

const storeIn = (opened: OpenedLog): EventStore => ('embedded' in opened ? opened.embedded : opened.remote);

type Around = {
  readonly clock: GuardedClock;
  readonly patiently: Patiently;
  readonly warn: Log;
  readonly unlock: () => void;
};

const openNodeOn = async (config: Config, opened: OpenedLog, { clock, patiently, warn, unlock }: Around) => {
  const log = withPayloads<EventStore>(storeIn(opened), mayHaveParts);
  const { key, signingKeys } = await patiently(() => keysOf(log, config));
  const readModels = readModelsOf({ config, logId: log.id, warn });
  const name = nodeNameOf(config);
  const lead = leadOf({ opened, isShared: readModels.kind === 'redis', node: name, warn });
  const close = (): Promise<void> => {
    clock.stop();
    return log.close().finally(unlock);
  };
  const open = () =>
    openNode({
      log: { ...log, close },
      model: readModels.model,
      ...defined({ leadership: lead }),
      catchUp: readModels.catchUp,
      foreign: config.FOREIGN_EVENTS,
      readWaitMs: config.READ_WAIT_MS,
      hashing: passwords(),
      secrets: secrets({ key }),
      methods: () => methodsOf(areas),
      now: clock.now,
      warn,
    });
  const node = await patiently(open);
  return { node, name, clock, lead, opened, readModels, signingKeys, patiently };
};

const refuseHalfImported = async (log: EventStore): Promise<void> => {
  if ((await log.checkpoint(importingCheckpoint)) === undefined) return;
  throw new Error('An import into this event log has not come to its end; run the same import again');
};

const keysOf = async (log: EventStore, config: Config) => ({
  key: await keyOfLog({ log, fromSetting: config.SECRET_KEY, file: secretKeyFile(config) }),
  signingKeys: keysOrNew(auditKeySource(config)),
});

const checkFolder = (folder: string): void => {
  makeFolder(folder);
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
};

const openItsLog = async (
  { EVENTSTORE_URL: url, DATA_DIR: folder }: Config,
  warn: Log,
  leaving: AbortSignal,
): Promise<OpenedLog> => {
  const shown = 'url' in url ? withoutLogins(url.url) : `sqlite:${url.file}`;
  const seen = await seenBySnapshot(join(folder, snapshotName));
  return blaming(`EVENTSTORE_URL ${shown}`, () => openLog(url, warn, { seen, waits: leaving }));
};
