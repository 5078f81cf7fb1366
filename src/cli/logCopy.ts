import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { copyLog } from '../store/copyLog.ts';
import type { EventStore } from '../store/port.ts';
import { openSqliteReader, openSqliteStore } from '../store/sqlite.ts';
import { lockFolder } from '../store/sqliteLock.ts';
import { type LogUrl, logUrl } from '../store/url.ts';
import { progressLine, type Terminal } from './progress.ts';

/** A log that is open, and how to leave it. */
type Opened = { readonly store: EventStore; readonly close: () => Promise<void> };

const named = (name: string, text: string): LogUrl => {
  try { return logUrl(text); } catch (error) { throw new Error(`${name} ${(error as Error).message}`, { cause: error }); }
};

const notYet = (): never => { throw new Error('EventStoreDB is not supported yet'); };

const openTarget = async (log: LogUrl): Promise<Opened> => {
  const store = 'file' in log ? await openSqliteStore(log) : notYet();
  return { store, close: () => store.close() };
};

/** Nobody may write to a file while it is copied; from EventStoreDB nobody can be kept away. `locked`: the folder that the target locks. */
const openSource = async (log: LogUrl, locked: string | undefined): Promise<Opened> => {
  if (!('file' in log)) return notYet();
  if (!existsSync(log.file)) throw new Error(`There is no log at ${log.file}`);
  const unlock = dirname(log.file) === locked ? () => undefined : lockFolder(log.file);
  try {
    const store = await openSqliteReader(log.file);
    return { store, close: async () => { await store.close(); unlock(); } };
  } catch (error) {
    unlock();
    throw error;
  }
};

/**
 * Copies the log at one URL to another, which may hold a part of it already; says how far it is on `output` and what it
 * did at the end. The service must be stopped: an Error says so. Running it again goes on where it was stopped.
 */
export const logCopy = async (from: string, to: string, signal: AbortSignal, output: Terminal = process.stderr): Promise<void> => {
  const [source, target] = [named('<from>', from), named('<to>', to)];
  const opened: Opened[] = [];
  const progress = progressLine(output);
  try {
    const ours = await openSource(source, 'file' in target ? dirname(target.file) : undefined);
    opened.push(ours);
    const theirs = await openTarget(target);
    opened.push(theirs);
    if (ours.store.id === theirs.store.id) throw new Error('<from> and <to> are the same log');
    const done = await copyLog({
      from: ours.store, to: theirs.store, signal,
      told: ({ step, position, head, events }) => progress.show(() => `${step} ${Math.floor((100 * position) / head)} % (${events} events)`),
    });
    progress.end();
    output.write(`${done.copied} events copied, ${done.found} were there already; both logs were compared event by event\n`);
    for (const [name, { events, digest }] of [['source', done.source], ['target', done.target]] as const) output.write(`${name}: ${events} events, SHA-256 ${digest}\n`);
    output.write('Secrets in it open with the SECRET_KEY or secret.key of the service that it is from\n');
  } finally {
    progress.end();
    for (const { close } of opened.reverse()) await close();
  }
};
