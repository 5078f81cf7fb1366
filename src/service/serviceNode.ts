import { createHash, randomUUID } from 'node:crypto';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type GuardedClock, guardedClock, type Log, newLeadership } from '@automation-platform/concurrency';
import { auditKeySource, type Config, secretKeyFile } from '../config.ts';
import { defined } from '../domain/engine/defined.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { isOwnStream, mayHaveParts } from '../events/ownStreams.ts';
import { areas } from '../http/areas.ts';
import { methodsOf } from '../http/authorization/methods.ts';
import { openNode } from '../node.ts';
import { withoutLogins } from '../process/withoutLogins.ts';
import { seenBySnapshot, snapshotName } from '../projections/snapshots/snapshot.ts';
import { type Lead, logLead } from '../runners/logLead.ts';
import { keyOfLog } from '../secrets/keyCheck.ts';
import { passwords } from '../secrets/passwords.ts';
import { secrets } from '../secrets/secrets.ts';
import { indexed, timeOf } from '../store/auditIndex/indexer.ts';
import { makeFolder } from '../store/folders.ts';
import { type OpenedLog, openLog } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';
import { doubtedCheckpoint, importingCheckpoint } from '../store/readers.ts';
import { keysOrNew } from '../store/signingKeys.ts';
import { lockFolder } from '../store/sqlite/log.ts';
import { readModelsOf } from './readModels.ts';

/** A wall clock, which may jump, and one that never does, in milliseconds. */
export type Clocks = Pick<Parameters<typeof guardedClock>[0], 'now' | 'monotonic'>;

const machineClocks: Clocks = { now: Date.now, monotonic: () => performance.now() };

/**
 * Opens the node that the settings describe. Throws a `StartFault` if a setting is wrong. Waits for a log that answers
 * slowly until `leaving` aborts.
 */
export const openServiceNode = async (config: Config, warn: Log, leaving: AbortSignal, clocks = machineClocks) => {
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
    const patiently = patience(opened, leaving, warn);
    await patiently(() => refuseHalfImported(log));
    clock = await openNodeClock(opened, patiently, { warn, clocks });
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
  const { key, signingKeys } = await patiently(() => keysOf(log, config, clock.now));
  const readModels = readModelsOf(config, log.id, warn);
  const name = nodeNameOf(config);
  const lead = leadOf(opened, readModels.kind === 'redis', name, warn);
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
      clock,
      warn,
    });
  const node = await patiently(open);
  return { node, name, lead, opened, readModels, signingKeys, patiently };
};

const refuseHalfImported = async (log: EventStore): Promise<void> => {
  if ((await log.checkpoint(importingCheckpoint)) === undefined) return;
  throw new Error('An import into this event log has not come to its end; run the same import again');
};

const keysOf = async (log: EventStore, config: Config, now: () => number) => ({
  key: await keyOfLog({ log, now, fromSetting: config.SECRET_KEY, file: secretKeyFile(config) }),
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
  const storeName = 'url' in url ? withoutLogins(url.url) : `sqlite:${url.file}`;
  const snapshotPlaces = await seenBySnapshot(join(folder, snapshotName));
  return blaming(`EVENTSTORE_URL ${storeName}`, () => openLog(url, warn, { seen: snapshotPlaces, waits: leaving }));
};

/** A node that the settings describe, and its parts that the service needs. */
export type Opening = Awaited<ReturnType<typeof openServiceNode>>;

/** After this number of events without a time, such as those of other programs, the log counts as one without events. */
const mostRead = 10_000;

const isTimed = (event: StoredEvent): boolean => isOwnStream(event.stream) && timeOf(indexed(event)) !== undefined;

type Backwards = { readonly readAllBack: (before: number) => AsyncIterable<readonly StoredEvent[]> };

/** The newest of the platform's events that shows a time. */
const newestTimed = async (log: Backwards): Promise<StoredEvent | undefined> => {
  let read = 0;
  for await (const events of log.readAllBack(Infinity)) {
    const found = events.find(isTimed);
    read += events.length;
    if (found || read >= mostRead) return found;
  }
  return undefined;
};

/**
 * The clock of a node, compared with the log, before anything is stored. A clock that is not believed at a start is noted
 * in the log until it is: what this process stores meanwhile proves nothing to the next one.
 */
const openNodeClock = async (
  opened: OpenedLog,
  patiently: Patiently,
  { warn, clocks }: { readonly warn: Log; readonly clocks: Clocks },
): Promise<GuardedClock> => {
  const log: EventStore & Backwards = 'embedded' in opened ? opened.embedded : opened.remote;
  const doubted = await patiently(() => log.checkpoint(doubtedCheckpoint));
  const newest = await patiently(async () => (doubted && (await log.at(doubted))) || (await newestTimed(log)));
  const clock = guardedClock({
    ...clocks,
    newest: newest && timeOf(indexed(newest)),
    onJump: ({ by, until, why }) => warn(why, { by, until: new Date(until).toISOString() }),
  });
  const stopping = new AbortController();
  const failed = (error: unknown): void => warn('That the clock is doubtful cannot be noted in the log', { error });
  const isDoubtful = clock.time() === undefined;
  if (newest && isDoubtful && doubted === undefined)
    await patiently(() => log.setCheckpoint(doubtedCheckpoint, newest.position)).catch(failed);
  const noteBelief = async (): Promise<void> => {
    await clock.believed(stopping.signal);
    if (!stopping.signal.aborted) await log.removeCheckpoint(doubtedCheckpoint);
  };
  if (isDoubtful || doubted !== undefined) void noteBelief().catch(failed);
  return {
    ...clock,
    stop: () => {
      stopping.abort();
      clock.stop();
    },
  };
};

/**
 * The name of this node among those that use its log. It is the same after each start, and no other process that runs
 * has it: an embedded log has one process, and each other node locks its folder. Containers may have folders of one
 * path, but not with one inode.
 */
const nodeNameOf = ({
  EVENTSTORE_URL: at,
  DATA_DIR,
  PORT,
}: Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR' | 'PORT'>): string => {
  if ('file' in at) return 'automation-platform with the log';
  const own = JSON.stringify([PORT, realpathSync(DATA_DIR), statSync(DATA_DIR).ino]);
  return `automation-platform on ${hostname()} (${createHash('sha256').update(own).digest('hex').slice(0, 8)})`;
};

/** A lead that never changes. */
const constant = (leads: boolean): Lead => ({
  ...newLeadership(leads),
  onStored: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
});

/**
 * Decides which process leads: the process of an embedded log, for all nodes that use it; else whoever
 * writes the read models that nodes share (undefined); else whoever says so in the log. `node` is the name of this node.
 */
const leadOf = (opened: OpenedLog, isShared: boolean, node: string, warn: Log): Lead | undefined => {
  if ('embedded' in opened) return constant(true);
  const { remote } = opened;
  if (isShared) return remote.serverLeads() ? constant(false) : undefined;
  // Another version of the program may serve the log at the next connection.
  const mayLead = (): boolean => !remote.serverLeads();
  return logLead({ notes: remote.lead, me: { node, process: randomUUID() }, mayLead, log: warn });
};

/** Does a step of the start. */
export type Patiently = <T>(step: () => Promise<T>) => Promise<T>;

const againMs = 500;

/** True if the log does not answer now. A log that refuses for good says nothing of another try. */
const isPassing = (error: unknown): boolean =>
  error instanceof RequestError && error.code === 'unavailable' && error.retryAfterSeconds !== undefined;

/**
 * Makes the function that does a step of the start again while a log in EventStoreDB does not answer. Requests wait in
 * the same way later. A log in this process has no reason to be waited for. `leaving` aborts when the service is to end
 * before it has started.
 */
export const patience =
  (opened: OpenedLog, leaving: AbortSignal, warn: Log): Patiently =>
  async (step) => {
    for (let isWaiting = false; ; isWaiting = true) {
      try {
        return await step();
      } catch (error) {
        if ('embedded' in opened || !isPassing(error)) throw error;
        if (!isWaiting) warn('The start waits for the event log', { error });
        await pause(againMs, undefined, { signal: leaving });
      }
    }
  };

/** Errors of the operating system about a file, folder or address, in words. */
const reasons: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use',
  EADDRNOTAVAIL: 'is no address of this machine',
  ENOTFOUND: 'is not known by name',
  EAI_AGAIN: 'is not known by name now',
  EACCES: 'is not permitted',
  EPERM: 'is not permitted',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies in something that is no folder',
  EISDIR: 'is a folder, not a file',
  ENOENT: 'does not exist',
};

const sentence = (settings: string, error: unknown): string => {
  const { code = '', message } = error as { readonly code?: string; readonly message: string };
  const reason = reasons[code];
  return reason === undefined ? `${settings}: ${message}` : `${settings} ${reason}`;
};

/** A fault at the start. Its message is one sentence with the setting to change, its value and the reason. */
class StartFault extends Error {
  constructor(settings: string, cause: unknown) {
    super(sentence(settings, cause), { cause });
    this.name = 'StartFault';
  }
}

/** Runs the work; turns its error into a `StartFault` that names the settings. */
export const blaming = async <T>(settings: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw new StartFault(settings, error);
  }
};
