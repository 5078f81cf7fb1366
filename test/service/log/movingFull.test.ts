import assert from 'node:assert/strict';
import { createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { backupFile } from '../../../src/cli/commands/backup.ts';
import { exportFile } from '../../../src/cli/commands/export.ts';
import { importFile } from '../../../src/cli/commands/import.ts';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { restoreFile } from '../../../src/cli/commands/restore.ts';
import { readConfig } from '../../../src/config.ts';
import { logAt } from '../../../src/store/moving/replaceLog.ts';
import { heard, writeLog } from '../../support/movingLog.ts';
import { temporaryFolder } from '../../support/process.ts';
import { noSmallDisk, type SmallDisk, smallDisk } from '../../support/smallDisk.ts';

const events = 2_500;

(noSmallDisk ? describe.skip : describe)(
  `moving a log to a disk that is too small${noSmallDisk ? ` (${noSmallDisk})` : ''}`,
  function () {
    this.timeout(240_000);
    const never = new AbortController().signal;
    const { output } = heard();
    let folder: string;
    let disk: SmallDisk;
    const source = (): string => join(folder, 'events.db');
    const target = (): string => join(disk.data, 'events.db');
    const config = () => readConfig({ DATA_DIR: disk.data });
    beforeEach(() => {
      folder = temporaryFolder();
      disk = smallDisk(1);
      writeLog(source(), events);
    });
    afterEach(() => {
      disk.remove();
      rmSync(folder, { recursive: true });
    });

    /** Says that the disk is full; once there is room, the same command goes on. */
    const failsThenGoesOn = async (command: () => Promise<void>): Promise<void> => {
      await assert.rejects(command(), /disk is full/);
      disk.grow(64);
      await command();
      assert.equal(logAt(target())?.events, events);
    };

    it('import', async () => {
      const file = join(folder, 'export.ndjson');
      const exported = createWriteStream(file);
      await exportFile(readConfig({ DATA_DIR: folder }), never, { output: exported, messages: output });
      exported.end();
      await finished(exported);
      await failsThenGoesOn(() => importFile(config(), file, never, output));
    });

    it('log copy', () => failsThenGoesOn(() => logCopy(`sqlite:${source()}`, `sqlite:${target()}`, never, { output })));

    it('backup leaves nothing there', async () => {
      mkdirSync(join(disk.data, 'backups'));
      const backup = () => backupFile(readConfig({ DATA_DIR: folder }), join(disk.data, 'backups', 'log.db'), output);
      await assert.rejects(backup(), /disk is full/);
      assert.deepEqual(readdirSync(join(disk.data, 'backups')), []);
      disk.grow(64);
      await backup();
      assert.deepEqual(readdirSync(join(disk.data, 'backups')), ['log.db']);
    });

    it('restore leaves the log that was there', async () => {
      writeLog(target(), 30);
      const restore = () => restoreFile(config(), source(), output);
      await assert.rejects(restore(), /disk is full/);
      assert.equal(logAt(target())?.events, 30);
      assert.ok(!readdirSync(disk.data).includes('restoring'));
      disk.grow(64);
      await restore();
      assert.equal(logAt(target())?.events, events);
    });
  },
);
