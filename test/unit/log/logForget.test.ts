import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planOf, withoutNames } from '../../../src/cli/law/plan.ts';
import { encode } from '../../../src/store/event.ts';
import { checker } from '../../../src/store/integrity.ts';
import { partsOf } from '../../../src/store/payloads.ts';
import type { StoredEvent } from '../../../src/store/port.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { nobody, textOf, written } from '../../support/samples/logForget.ts';

describe('a package whose authors name an account', () => {
  const id = 'a1b2c3d4e5f60718293a4b5c';
  const about = { id, usernames: new Set(['nora.petrova', 'nora']) };
  const { stream, events, reference } = partsOf(
    '@platform/prebuilts',
    `{"n":1.0,"accounts":{"nora":"${id}","otto":"ffff"},"text":"${'x'.repeat(200_000)}"}`,
  );

  it('names it no more, also where it is stored in parts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-forget-'));
    const store = await openSqliteStore({ file: join(folder, 'events.db') });
    try {
      const imported = (package_: string, data: object, previous = '', revision = 0) =>
        encode(
          { stream: `prebuilt-${package_}`, revision, id: `${package_} ${revision}`, source: '@platform/prebuilts' },
          { topic: 'prebuiltImported', data },
          written,
          previous,
        );
      await store.append(stream, -1, events);
      for (const name of ['one', 'two']) await store.append(`prebuilt-${name}`, -1, [imported(name, reference)]);
      const inline = imported('three', { accounts: { 'nora.petrova': id } });
      await store.append('prebuilt-three', -1, [inline, imported('three', { other: true }, inline.hash, 1)]);
      const asked = { ...nobody, forget: undefined };
      assert.deepEqual((await planOf(store, asked, new AbortController().signal)).removed.accounts, []);
      const left: StoredEvent[] = [];
      for await (const batch of withoutNames(store, about, new Set([stream])).readAll(0)) left.push(...batch.events);
      const rewritten = left.filter((event) => event.stream !== stream);
      assert.ok(!rewritten.some((event) => textOf(event).includes('nora')));
      const parts = rewritten.filter((event) => event.stream.startsWith('payload-'));
      const whole = parts.map(({ data }) => JSON.parse(data).text).join('');
      assert.ok(whole.startsWith(`{"n":1.0,"accounts":{"(forgotten)":"${id}","otto":"ffff"}`), whole.slice(0, 99));
      assert.deepEqual(
        rewritten.filter((event) => event.stream.startsWith('prebuilt-')).map((event) => event.id),
        ['one 0', 'two 0', 'three 0', 'three 1'],
      );
      const check = checker(
        { find: () => undefined, sumAt: () => undefined, arePartsRight: () => true, sumsSince: Infinity },
        100,
      );
      for (const [n, event] of rewritten.entries()) {
        const wrong = check.next({ ...event, position: n + 1 });
        assert.equal(wrong, undefined);
      }
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
});
