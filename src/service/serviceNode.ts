import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { auditKeySource, type Config, secretKeyFile } from '../config.ts';
import { areas } from '../http/areas.ts';
import { methodsOf } from '../http/authorization/methods.ts';
import { keyOfLog } from '../keyCheck.ts';
import { openNode } from '../node.ts';
import { mayHaveParts } from '../ownStreams.ts';
import { passwords } from '../passwords.ts';
import { seenBySnapshot, snapshotName } from '../projections/snapshots/snapshotSeen.ts';
import { secrets } from '../secrets.ts';
import { blaming } from '../startFaults.ts';
import { makeFolder } from '../store/folders.ts';
import { openLog } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { keysOrNew } from '../store/proof/keys.ts';
import { importingCheckpoint } from '../store/readers.ts';
import { withoutLogins } from '../withoutLogins.ts';
import { readModelsOf } from './readModels.ts';

type Warn = (message: string, about: Record<string, unknown>) => void;

/** Opens the node that the settings describe. Throws a `StartFault` if a setting is wrong. */
export const openServiceNode = async (config: Config, warn: Warn) => {
  await blaming(`DATA_DIR ${config.DATA_DIR}`, () => checkFolder(config.DATA_DIR));
  const opened = await openItsLog(config, warn);
  const log = withPayloads<EventStore>('embedded' in opened ? opened.embedded : opened.remote, mayHaveParts);
  await refuseHalfImported(log);
  const { key, signingKeys } = await keysOf(log, config).catch(async (error: unknown) => {
    await log.close();
    throw error;
  });
  const readModels = readModelsOf({ config, logId: log.id, warn });
  const node = await openNode({
    log,
    model: readModels.model,
    catchUp: readModels.catchUp,
    readWaitMs: config.READ_WAIT_MS,
    hashing: passwords(),
    secrets: secrets({ key }),
    methods: () => methodsOf(areas),
    warn,
  });
  return { node, opened, readModels, signingKeys };
};

const refuseHalfImported = async (log: EventStore): Promise<void> => {
  if ((await log.checkpoint(importingCheckpoint)) === undefined) return;
  await log.close();
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

const openItsLog = async ({ EVENTSTORE_URL: url, DATA_DIR: folder }: Config, warn: Warn) => {
  const shown = 'url' in url ? withoutLogins(url.url) : `sqlite:${url.file}`;
  const seen = await seenBySnapshot(join(folder, snapshotName));
  return blaming(`EVENTSTORE_URL ${shown}`, () => openLog(url, warn, seen));
};
