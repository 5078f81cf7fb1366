import { existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../folders.ts';
import { openRemoteToCopy } from '../open.ts';
import { importingCheckpoint } from '../readers.ts';
import { lockFolder } from '../sqlite/lock.ts';
import { openSqliteReader } from '../sqlite/store.ts';
import type { LogUrl } from '../url.ts';
import { bringBack, stages } from './bringBack.ts';
import { content } from './content.ts';
import { copyLog } from './copyLog.ts';
import { type Imported, importLog } from './importLog.ts';
import { logAt, replaceLog } from './replaceLog.ts';

type Needs = {
  /** The export. */
  readonly from: string;
  /** The log to make, and the folder in which one for EventStoreDB is made first. */
  readonly at: LogUrl;
  readonly folder: string;
  /** Begins the schedules in the log of a file at this time. */
  readonly beginSchedules: (file: string) => Promise<void>;
  readonly signal: AbortSignal;
  /** Gets messages about lost connections. */
  readonly log: (message: string) => void;
  /** Gets how far the import has come, in words. */
  readonly told: (words: string) => void;
};

type Work = Needs & { readonly fresh: string };

const refuseFull = (file: string): void => {
  const there = logAt(file);
  if (there && there.events > 0)
    throw new Error(
      `There is a log with ${there.events} events at ${file}; move it away, or name another EVENTSTORE_URL`,
    );
};

const hasEvents = async (log: Parameters<typeof content>[0]): Promise<boolean> => {
  for await (const _ of content(log, { skipped: new Set() })) return true;
  return false;
};

/**
 * Makes the log of an export beside the target. A second run goes on where the first one stopped. Returns undefined if
 * an earlier run has made it.
 */
const make = async ({ from, fresh, beginSchedules, signal, told }: Work): Promise<Imported | undefined> => {
  makeFolder(dirname(fresh));
  const stage = stages(fresh);
  stage.dropUnfinished();
  const made = await importLog({ from, to: fresh, signal, told: (events) => told(`${events} events`) });
  if (stage.isDone()) return undefined;
  stage.imported();
  await bringBack(fresh, made.places);
  await beginSchedules(fresh);
  stage.done();
  return made;
};

type Remote = Awaited<ReturnType<typeof openRemoteToCopy>>;

const onServer = async (url: string, log: Needs['log'], work: (to: Remote) => Promise<void>): Promise<void> => {
  const to = await openRemoteToCopy({ url, log });
  try {
    await work(to);
  } finally {
    await to.close();
  }
};

/** Throws when EventStoreDB has events, unless an import of them was cut short. */
const refuseFullServer = async (to: Remote): Promise<void> => {
  const isBegun = (await to.checkpoint(importingCheckpoint)) !== undefined;
  if (!isBegun && (await hasEvents(to))) throw new Error('EVENTSTORE_URL names a log that has events already');
};

/** Copies the log that was made into EventStoreDB. No service starts there before the copy is complete. */
const copyToServer = async (to: Remote, { fresh, signal, told }: Work): Promise<void> => {
  const from = await openSqliteReader(fresh);
  try {
    await refuseFullServer(to);
    await to.setCheckpoint(importingCheckpoint, 0);
    await copyLog({ from, to, signal, told: ({ step, events }) => told(`${step}: ${events} events`) });
    await to.removeCheckpoint(importingCheckpoint);
  } finally {
    await from.close();
  }
};

/**
 * Makes a log from an export. It brings back a past: nothing of it fires. Returns what was imported; undefined if an
 * earlier run has done that, and this one has put the log in its place. Throws an Error that names the first line that
 * is wrong.
 */
export const importInto = async (needs: Needs): Promise<Imported | undefined> => {
  const { from, at, folder, log } = needs;
  if (!existsSync(from) || !statSync(from).isFile()) throw new Error(`There is no file ${from}`);
  const target = 'file' in at ? at.file : join(folder, 'events.db');
  const importing = join(dirname(target), 'importing');
  const work = { ...needs, fresh: join(importing, 'events.db') };
  const unlock = lockFolder(target);
  try {
    if ('file' in at) refuseFull(at.file);
    else await onServer(at.url, log, refuseFullServer);
    const made = await make(work);
    if ('url' in at) await onServer(at.url, log, (to) => copyToServer(to, work));
    else {
      stages(work.fresh).forget();
      replaceLog(work.fresh, at.file);
    }
    await rm(importing, { recursive: true });
    return made;
  } finally {
    unlock();
  }
};
