import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { backupFile } from '../../src/cli/commands/backup.ts';
import { exportFile } from '../../src/cli/commands/export.ts';
import { importFile } from '../../src/cli/commands/import.ts';
import { logCopy } from '../../src/cli/commands/logCopy.ts';
import { restoreFile } from '../../src/cli/commands/restore.ts';
import { readConfig } from '../../src/config.ts';
import { heard } from './movingLog.ts';

const never = new AbortController().signal;
const quiet = () => heard().output;

/** Brings a log from the folder of one service into that of another. */
type Bring = (from: string, to: string) => Promise<void>;

/** The ways in which a past is brought back. */
export const waysBack: Readonly<Record<string, Bring>> = {
  'backup and restore': async (from, to) => {
    const backup = join(from, 'backup.db');
    await backupFile(readConfig({ DATA_DIR: from }), backup, quiet());
    await restoreFile(readConfig({ DATA_DIR: to }), backup, quiet());
  },
  'export and import': async (from, to) => {
    const file = join(from, 'export.ndjson');
    const output = new PassThrough();
    const writing = pipeline(output, createWriteStream(file));
    await exportFile(readConfig({ DATA_DIR: from }), never, { output, messages: quiet() });
    output.end();
    await writing;
    await importFile(readConfig({ DATA_DIR: to }), file, never, quiet());
  },
};

/** Moves it by log copy. */
export const copyOfLog: Bring = (from, to) =>
  logCopy(`sqlite:${join(from, 'events.db')}`, `sqlite:${join(to, 'events.db')}`, never, { output: quiet() });
