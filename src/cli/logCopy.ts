import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOwnStream } from '../events/ownStreams.ts';
import type { CopyEnd } from '../store/copyAppends.ts';
import { type Copied, copyLog } from '../store/copyLog.ts';
import { openRemoteToCopy } from '../store/open.ts';
import { lockFolder } from '../store/sqlite/lock.ts';
import { refuseShorter } from '../store/sqlite/shorter.ts';
import { openSqliteReader, openSqliteStore } from '../store/sqlite/store.ts';
import { type LogUrl, logUrl } from '../store/url.ts';
import { UsageError } from './engine/command.ts';
import { beginAnew, type RewriteConfig } from './law/beginAnew.ts';
import { type Asked, type Plan, planOf, refuseOther } from './law/plan.ts';
import { withoutNames } from './law/rewriting.ts';
import { progressLine, type Terminal } from './progress.ts';

/** An open log, and the function that closes it. */
type Opened = { readonly store: CopyEnd; readonly close: () => Promise<void> };

/** Called when the connection to EventStoreDB is lost and when it is back. */
type Log = (message: string) => void;

const named = (name: string, text: string): LogUrl => {
  try {
    return logUrl(text);
  } catch (error) {
    throw new UsageError(`${name} ${(error as Error).message}`);
  }
};

const remote = async (url: string, log: Log): Promise<Opened> => {
  const store = await openRemoteToCopy({ url, log, own: isOwnStream });
  return { store, close: () => store.close() };
};

const openTarget = async (at: LogUrl, log: Log): Promise<Opened> => {
  if ('url' in at) return remote(at.url, log);
  const store = await openSqliteStore(at, { anySize: true });
  return { store, close: () => store.close() };
};

/**
 * Opens the source. A file is locked, so that nobody writes to it during the copy. EventStoreDB cannot be locked.
 * `locked` is the folder that the target locks.
 */
const openSource = async (at: LogUrl, locked: string | undefined, log: Log): Promise<Opened> => {
  if ('url' in at) return remote(at.url, log);
  if (!existsSync(at.file)) throw new Error(`There is no log at ${at.file}`);
  const unlock = dirname(at.file) === locked ? () => undefined : lockFolder(at.file);
  try {
    await refuseShorter(at.file, []);
    const store = await openSqliteReader(at.file);
    return {
      store,
      close: async () => {
        await store.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
};

type Choices = {
  readonly output?: Terminal;
  /** Leaves out tools' streams that have lost events. */
  readonly skipIncomplete?: boolean | undefined;
  /** What the copy is to lack. Then the target begins its signatures anew. */
  readonly rewrite?: { readonly asked: Asked; readonly config: RewriteConfig };
};

type Rewrite = NonNullable<Choices['rewrite']>;

/** The source as it is to be copied, and what is left out. */
type Prepared = { readonly from: CopyEnd; readonly plan?: Plan };

const prepared = async (from: CopyEnd, rewrite: Rewrite | undefined, signal: AbortSignal): Promise<Prepared> => {
  if (!rewrite) return { from };
  const plan = await planOf(from, rewrite.asked, signal);
  const { forgotten, replaced } = plan;
  return { from: forgotten ? withoutNames(from, forgotten, replaced) : from, plan };
};

const summary = ({ copied, found, source, target, leftOut, unfit }: Copied): readonly string[] => [
  `${copied} events copied, ${found} were there already; both logs were compared event by event`,
  `source: ${source.events} events, SHA-256 ${source.digest}`,
  `target: ${target.events} events, SHA-256 ${target.digest}`,
  ...[...leftOut].map(([what, times]) => `left out: ${what}${times > 1 ? ` (${times} times)` : ''}`),
  ...unfit,
];

/**
 * Copies the log at one URL to another, which may hold a part of it already. Writes its progress and a summary to
 * `output`. The service must be stopped: if it holds a log in a file, an Error is thrown. A second run goes on where
 * the first one stopped.
 */
export const logCopy = async (
  fromUrl: string,
  toUrl: string,
  signal: AbortSignal,
  { output = process.stderr, skipIncomplete = false, rewrite }: Choices = {},
): Promise<void> => {
  const [source, target] = [named('<from>', fromUrl), named('<to>', toUrl)];
  const opened: Opened[] = [];
  const progress = progressLine(output);
  const log: Log = (message) => {
    output.write(`${message}\n`);
  };
  try {
    const ours = await openSource(source, 'file' in target ? dirname(target.file) : undefined, log);
    opened.push(ours);
    const { from, plan } = await prepared(ours.store, rewrite, signal);
    const theirs = await openTarget(target, log);
    opened.push(theirs);
    if (ours.store.id === theirs.store.id) throw new Error('<from> and <to> are the same log');
    if (plan) await refuseOther(theirs.store, plan);
    const done = await copyLog({
      from,
      to: theirs.store,
      own: isOwnStream,
      skipIncomplete,
      ...(plan && { without: plan.skipped }),
      signal,
      told: ({ step, position, head, events }) =>
        progress.show(() => `${step} ${Math.floor((100 * position) / head)} % (${events} events)`),
    });
    progress.end();
    for (const line of summary(done)) log(line);
    if (plan && rewrite) {
      for (const line of await beginAnew({ from: ours.store, to: theirs.store, plan, ...rewrite, signal })) log(line);
    }
    log('Secrets in it open with the SECRET_KEY or secret.key of the service that it is from');
  } finally {
    progress.end();
    for (const { close } of opened.reverse()) await close();
  }
};
