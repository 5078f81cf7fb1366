import { existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../config.ts';
import { isOwnStream } from '../events/ownStreams.ts';
import { content } from '../store/copyContent.ts';
import { copyLog } from '../store/copyLog.ts';
import { makeFolder } from '../store/folders.ts';
import { bringBack } from '../store/moving/bringBack.ts';
import { importLog } from '../store/moving/importLog.ts';
import { logAt, replaceLog } from '../store/moving/replaceLog.ts';
import { stages } from '../store/moving/stages.ts';
import { openRemoteToCopy } from '../store/open.ts';
import { fingerprintOf } from '../store/proof/keys.ts';
import { importingCheckpoint } from '../store/readers.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { openSqliteReader } from '../store/sqlite/store.ts';
import { beginSchedules } from './beginSchedules.ts';
import { progressLine, type Terminal } from './progress.ts';

const refuseFull = (file: string): void => {
  const there = logAt(file);
  if (there && there.events > 0)
    throw new Error(
      `There is a log with ${there.events} events at ${file}; move it away, or name another EVENTSTORE_URL`,
    );
};

const hasEvents = async (log: Parameters<typeof content>[0]): Promise<boolean> => {
  for await (const _ of content(log, { own: isOwnStream, skipped: new Set() })) return true;
  return false;
};

type Work = {
  /** The export. */
  readonly from: string;
  /** The log to make beside the target. */
  readonly fresh: string;
  readonly signal: AbortSignal;
  readonly output: Terminal;
};

/**
 * Makes the log of an export beside the target. A second run goes on where the first one stopped. Says what was made;
 * undefined: an earlier run has made it.
 */
const make = async ({ from, fresh, signal, output }: Work): Promise<string | undefined> => {
  makeFolder(dirname(fresh));
  const progress = progressLine(output);
  const stage = stages(fresh);
  stage.dropUnfinished();
  try {
    const told = (events: number): void => progress.show(() => `${events} events`);
    const { end, head, found, places, unfit } = await importLog({ from, to: fresh, signal, told });
    progress.end();
    if (stage.isDone()) return undefined;
    stage.imported();
    await bringBack(fresh, places);
    await beginSchedules(fresh, Date.now());
    stage.done();
    const signed = end.key === null ? 'it is not signed' : `it is signed by the key ${fingerprintOf(end.key)}`;
    return `${end.events} events imported, ${found} were there already; exported at ${head.at}, ${signed}\n${unfit.map((line) => `${line}\n`).join('')}`;
  } finally {
    progress.end();
  }
};

type Remote = Awaited<ReturnType<typeof openRemoteToCopy>>;

const onServer = async (url: string, output: Terminal, work: (to: Remote) => Promise<void>): Promise<void> => {
  const to = await openRemoteToCopy({ url, log: (message) => output.write(`${message}\n`), own: isOwnStream });
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
const copyToServer = async (to: Remote, { fresh, signal, output }: Work): Promise<void> => {
  const from = await openSqliteReader(fresh);
  const progress = progressLine(output);
  try {
    await refuseFullServer(to);
    await to.setCheckpoint(importingCheckpoint, 0);
    await copyLog({
      from,
      to,
      own: isOwnStream,
      signal,
      told: ({ step, events }) => progress.show(() => `${step}: ${events} events`),
    });
    await to.removeCheckpoint(importingCheckpoint);
  } finally {
    progress.end();
    await from.close();
  }
};

/**
 * Makes the log that the settings name from an export. It brings back a past: nothing of it fires. Throws an Error that
 * names the first line that is wrong.
 */
export const importFile = async (
  config: Config,
  from: string,
  signal: AbortSignal,
  output: Terminal = process.stderr,
): Promise<void> => {
  const { EVENTSTORE_URL: at, DATA_DIR } = config;
  if (!existsSync(from) || !statSync(from).isFile()) throw new Error(`There is no file ${from}`);
  const target = 'file' in at ? at.file : join(DATA_DIR, 'events.db');
  const folder = join(dirname(target), 'importing');
  const work = { from, fresh: join(folder, 'events.db'), signal, output };
  const unlock = lockFolder(target);
  try {
    if ('file' in at) refuseFull(at.file);
    else await onServer(at.url, output, refuseFullServer);
    const made = await make(work);
    if ('url' in at) await onServer(at.url, output, (to) => copyToServer(to, work));
    else {
      stages(work.fresh).forget();
      replaceLog(work.fresh, at.file);
    }
    await rm(folder, { recursive: true });
    if (made !== undefined) output.write(made);
    output.write(
      'The log is in place. Secrets in it open with the SECRET_KEY or secret.key of the service that it is from\n',
    );
  } finally {
    unlock();
  }
};
