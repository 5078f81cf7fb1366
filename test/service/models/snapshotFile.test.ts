import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../../../src/projections/engine/port.ts';
import { readSnapshot, writeSnapshot } from '../../../src/projections/snapshots/snapshot.ts';
import { temporaryFolder } from '../../support/process.ts';

const origin = { log: 'l', version: 'v' };
const checkpoint = { position: 7, event: 'e' };

const entry = (n: number): Entry => ({
  id: `d${n}`,
  text: JSON.stringify({ n, text: '✓ü'.repeat(n % 300) }),
  revision: n,
  sorts: { name: `n${n}` },
  filters: { tags: n % 2 === 0 ? [] : ['odd'] },
});

describe('a snapshot that is read piece by piece', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'snapshot');
  after(() => rmSync(folder, { recursive: true, force: true }));

  const read = async () => {
    const found = await readSnapshot(file, origin);
    const entries: unknown[] = [];
    if (found) for await (const changes of found.changes) entries.push(...changes.map((change) => change.entry));
    return found && { checkpoint: found.checkpoint, entries };
  };

  for (const count of [0, 1, 10_000])
    it(`holds all of ${count} documents`, async () => {
      const entries = Array.from({ length: count }, (_, n) => entry(n));
      await writeSnapshot(
        file,
        origin,
        checkpoint,
        entries.map((one) => ['c', one] as const),
      );
      assert.deepEqual(await read(), { checkpoint, entries });
    });

  it('is not used when a bit of it has flipped, wherever that is, or its end is missing', async () => {
    const whole = readFileSync(file);
    assert.ok(whole.length > 3 * 2 ** 20);
    for (const at of [50, whole.length >> 1, whole.length - 100, whole.length - 1]) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(file, bytes);
      assert.equal(await read(), undefined, `byte ${at}`);
    }
    for (const length of [0, 10, 64, whole.length >> 1, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length));
      assert.equal(await read(), undefined, `${length} bytes`);
    }
  });
});
