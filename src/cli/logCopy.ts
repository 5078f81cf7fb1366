import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOwnStream } from '../ownStreams.ts';
import type { CopyEnd } from '../store/copyAppends.ts';
import { copyLog } from '../store/copyLog.ts';
import { openRemoteToCopy } from '../store/open.ts';
import { openSqliteReader, openSqliteStore } from '../store/sqlite.ts';
import { lockFolder } from '../store/sqliteLock.ts';
import { refuseShorter } from '../store/sqliteShorter.ts';
import { type LogUrl, logUrl } from '../store/url.ts';
import { progressLine, type Terminal } from './progress.ts';

/** An open log, and the function that closes it. */
type Opened = { readonly store: CopyEnd & { readonly id: string }; readonly close: () => Promise<void> };

/** Called when the connection to EventStoreDB is lost and when it is back. */
type Log = (message: string) => void;

const named = (name: string, text: string): LogUrl => {
  try {
    return logUrl(text);
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}`, { cause: error });
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

/** `skipIncomplete`: leaves out tools' streams that have lost events. */
type Choices = { readonly output?: Terminal; readonly skipIncomplete?: boolean | undefined };

/**
 * Copies the log at one URL to another, which may hold a part of it already. Writes its progress and a summary to
 * `output`. The service must be stopped: if it holds a log in a file, an Error is thrown. A second run goes on where
 * the first one stopped.
 */
export const logCopy = async (
  fromUrl: string,
  toUrl: string,
  signal: AbortSignal,
  { output = process.stderr, skipIncomplete = false }: Choices = {},
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
    const theirs = await openTarget(target, log);
    opened.push(theirs);
    if (ours.store.id === theirs.store.id) throw new Error('<from> and <to> are the same log');
    const done = await copyLog({
      from: ours.store,
      to: theirs.store,
      own: isOwnStream,
      skipIncomplete,
      signal,
      told: ({ step, position, head, events }) =>
        progress.show(() => `${step} ${Math.floor((100 * position) / head)} % (${events} events)`),
    });
    progress.end();
    output.write(
      `${done.copied} events copied, ${done.found} were there already; both logs were compared event by event\n`,
    );
    for (const [name, { events, digest }] of [
      ['source', done.source],
      ['target', done.target],
    ] as const)
      output.write(`${name}: ${events} events, SHA-256 ${digest}\n`);
    for (const [what, times] of done.leftOut)
      output.write(`left out: ${what}${times > 1 ? ` (${times} times)` : ''}\n`);
    output.write('Secrets in it open with the SECRET_KEY or secret.key of the service that it is from\n');
  } finally {
    progress.end();
    for (const { close } of opened.reverse()) await close();
  }
};
