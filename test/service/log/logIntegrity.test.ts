import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFile } from '../../../src/store/sqlite/log.ts';
import { startProgram, startServer } from '../../support/process.ts';

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
    const server = await startServer(folder);
    for (let n = 0; n < 3; n++) assert.equal((await server.ask(...patch(n))).status, 200);
    assert.equal(await server.stop(), 0);
    damage(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('does not start, says where it is damaged, and starts once that was accepted', async () => {
    const refused = startProgram([], { PORT: '0', DATA_DIR: folder });
    assert.equal(await refused.ended, 1);
    assert.match(
      refused.output().err,
      /damaged at position \d+: event 0 of stream groupMapping-ldap group-\d is not what was written/,
    );
    const accepting = startProgram(['log', 'accept'], { DATA_DIR: folder });
    assert.equal(await accepting.ended, 0);
    assert.equal(accepting.output().err.match(/is not what was written/g)?.length, 3);
    const server = await startServer(folder);
    assert.equal((await server.ask('GET', '/health/status')).body.eventStore.fault, null);
    assert.equal(await server.stop(), 0);
  });
});
