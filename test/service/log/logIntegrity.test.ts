import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFile } from '../../../src/store/sqlite/log.ts';
import { runInProcess } from '../../support/command.ts';
import { startService } from '../../support/service.ts';

describe('a service on a damaged log', () => {
  const damage = (folder: string): void => {
    const db = openFile(join(folder, 'events.db'), { timeout: 0 });
    db.exec("UPDATE events SET data = replace(data, 'ldap', 'ldaq') WHERE type LIKE '%groupMappingCreated'");
    db.close();
  };
  const patch = (n: number) =>
    ['PATCH', `/group-mappings/ldap/group-${n}`, { updates: { platformGroups: ['x'] } }] as const;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'integrity-'));
    const service = await startService({}, folder);
    for (let n = 0; n < 3; n++) assert.equal((await service.ask(...patch(n))).status, 200);
    await service.stop();
    damage(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('does not start, says where it is damaged, and starts once that was accepted', async () => {
    await assert.rejects(
      startService({}, folder),
      /damaged at position \d+: event 0 of stream groupMapping-ldap group-\d is not what was written/,
    );
    const accepting = await runInProcess(['log', 'accept'], { DATA_DIR: folder });
    assert.equal(accepting.status, 0);
    assert.equal(accepting.err.match(/is not what was written/g)?.length, 3);
    const service = await startService({}, folder);
    assert.equal((await service.ask('GET', '/health/status')).body.eventStore.fault, null);
    await service.stop();
  });
});
