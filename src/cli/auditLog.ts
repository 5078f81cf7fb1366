import { existsSync } from 'node:fs';
import type { AuditSources } from '../audit/reading.ts';
import type { Config } from '../config.ts';
import { mayHaveParts } from '../events/ownStreams.ts';
import { auditIndex } from '../store/auditIndex/auditIndex.ts';
import { hiddenCategories } from '../store/auditIndex/found.ts';
import { splitStream } from '../store/event.ts';
import { openLogToRead } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { progressLine } from './progress.ts';

const tell = (message: string): void => void process.stderr.write(`${message}\n`);

/**
 * Opens the log of the settings for reading, also while the service uses it, and gives it to the work with all rights.
 * The index beside it is filled first, however long that takes.
 */
export const withLog = async (
  { EVENTSTORE_URL: url, DATA_DIR: folder }: Config,
  work: (sources: AuditSources & { readonly log: EventStore }) => Promise<void>,
): Promise<void> => {
  if ('file' in url && !existsSync(url.file)) throw new Error(`There is no log ${url.file}`);
  const log = withPayloads(await openLogToRead(url, tell), mayHaveParts);
  const progress = progressLine(process.stderr);
  const growing = (reached: number, wanted: number): void => {
    progress.show(() => `The audit index is being made: position ${reached} of ${wanted}`);
    if (reached >= wanted) progress.end();
  };
  const warn = (message: string, { reason }: Record<string, unknown>): void =>
    tell(`${message} (in ${folder}: ${String(reason)})`);
  const index = auditIndex({ folder, log: url, warn, growing });
  const sees: AuditSources['sees'] = async ({ stream }) => !hiddenCategories.includes(splitStream(stream).category);
  try {
    await work({ log, index, sees });
  } finally {
    progress.end();
    await index.stop();
    await log.close();
  }
};
