import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { auditLog, auditShow, auditStats } from '../../../src/cli/audit.ts';
import { verifyAndShow } from '../../../src/cli/commands/auditVerify.ts';
import { readConfig } from '../../../src/config.ts';
import { copyOfMoment } from '../../../src/store/moving/backup.ts';
import { heard, writeLog } from '../../support/movingLog.ts';
import { temporaryFolder } from '../../support/process.ts';
import { noSmallDisk, type SmallDisk, smallDisk } from '../../support/smallDisk.ts';

(noSmallDisk ? describe.skip : describe)(
  `a backup on a disk that can only be read${noSmallDisk ? ` (${noSmallDisk})` : ''}`,
  function () {
    this.timeout(60_000);
    let disk: SmallDisk;
    let folder: string;
    let file: string;
    before(() => {
      disk = smallDisk(8);
      folder = temporaryFolder();
      file = join(disk.data, 'events.db');
      writeLog(join(folder, 'made.db'), 300);
      copyOfMoment(join(folder, 'made.db'), file);
      disk.readOnly();
    });
    after(() => {
      disk.remove();
      rmSync(folder, { recursive: true });
    });

    const linesOf = (text: string): readonly any[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));

    it('can be audited and verified, with DATA_DIR elsewhere', async () => {
      const config = readConfig({ DATA_DIR: folder, EVENTSTORE_URL: `sqlite:${file}` });
      const [found, shown, stats, verified, messages] = [heard(), heard(), heard(), heard(), heard()];
      await auditLog(
        { config, output: found.output, messages: messages.output },
        { topic: 'groupMappingCreated' },
        999,
      );
      assert.equal(linesOf(found.text()).length, 97);
      await auditShow({ config, output: shown.output }, 'groupMapping/ldap m1');
      assert.equal(linesOf(shown.text()).length, 4);
      await auditStats({ config, output: stats.output });
      assert.ok(
        linesOf(stats.text()).some(({ by, name, count }) => by === 'log' && name === 'events' && count === 300),
      );
      const asked = { log: '', key: undefined, config, signal: new AbortController().signal };
      await verifyAndShow({ ...asked, output: verified.output, messages: messages.output });
      assert.deepEqual(linesOf(verified.text()).at(-1), { verified: 300, signed: 0, uncovered: 300 });
    });

    it('makes its audit index among the temporary files where DATA_DIR cannot be written', async () => {
      const config = readConfig({ DATA_DIR: disk.data, EVENTSTORE_URL: `sqlite:${file}` });
      const { output, text } = heard();
      await auditLog({ config, output }, { topic: 'groupMappingCreated' }, 999);
      assert.equal(linesOf(text()).length, 97);
    });
  },
);
