import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { isSealed } from '../../../src/domain/engine/sealed.ts';
import { startWorker } from '../../../src/process/startWorker.ts';
import { givenKey, keyOf, makeKey, secrets } from '../../../src/secrets/secrets.ts';

const one = secrets({ key: new Uint8Array(32).fill(1) });
const other = secrets({ key: new Uint8Array(32).fill(2) });

describe('secrets', () => {
  it('come out as they went in', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (secret) => {
        assert.equal(one.unseal(JSON.parse(JSON.stringify(one.seal(secret)))), secret);
      }),
    ));
  it('are sealed differently each time, with the same tag', () => {
    const [a, b] = [one.seal('public'), one.seal('public')];
    assert.notEqual(a.$sealed, b.$sealed);
    assert.equal(a.tag, b.tag);
    assert.notEqual(a.tag, one.seal('private').tag);
  });
  it('show nothing without the key: neither text nor tag nor digest', () => {
    assert.doesNotMatch(JSON.stringify(one.seal('visible')), /visible/);
    assert.notEqual(one.seal('public').tag, other.seal('public').tag);
    assert.notEqual(one.digest('public'), other.digest('public'));
    assert.notEqual(one.digest('public'), one.seal('public').tag);
  });
  it('do not open with another key', () => assert.throws(() => other.unseal(one.seal('x')), /sealed with another key/));
  it('do not open once changed, cut or emptied', () => {
    const { $sealed, tag } = one.seal('some secret');
    for (let i = 0; i < $sealed.length - 1; i += 5) {
      const changed = $sealed.slice(0, i) + ($sealed[i] === 'A' ? 'B' : 'A') + $sealed.slice(i + 1);
      assert.throws(() => one.unseal({ $sealed: changed, tag }));
    }
    for (const cut of [$sealed.slice(0, -4), $sealed.slice(0, 20), ''])
      assert.throws(() => one.unseal({ $sealed: cut, tag }), /stored secret cannot be opened/);
  });
  it('are told apart from other values', () => {
    assert.ok(isSealed(one.seal('x')));
    for (const value of [null, 'x', {}, { $sealed: 1, tag: 'x' }, []]) assert.ok(!isSealed(value));
  });
});

describe('the key of secrets', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is stretched from a setting of at least 16 characters', () => {
    const file = join(folder, 'key');
    const key = keyOf('sixteen letters!');
    assert.equal(key.length, 32);
    assert.deepEqual(givenKey({ fromSetting: 'sixteen letters!', file }), key);
    assert.notDeepEqual(givenKey({ fromSetting: 'sixteen letters?', file }), key);
    assert.throws(() => givenKey({ fromSetting: 'fifteen letters', file }), /at least 16/);
    assert.deepEqual(readdirSync(folder), []);
  });
  it('may be moved from the file into a setting', () => {
    const file = join(folder, 'key');
    const key = makeKey(file);
    assert.deepEqual(
      givenKey({ fromSetting: `base64:${readFileSync(file, 'utf8')}`, file: join(folder, 'other') }),
      key,
    );
    assert.throws(() => givenKey({ fromSetting: 'base64:c2hvcnQ=', file }), /32 bytes/);
  });
  it('is made once in a file that only its owner may read', () => {
    const file = join(folder, 'deeper', 'key');
    const key = makeKey(file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(givenKey({ fromSetting: undefined, file }), key);
    assert.deepEqual(makeKey(file), key, 'made once');
    assert.deepEqual(readdirSync(join(folder, 'deeper')), ['key'], 'no draft is left');
  });
  it('is the same for all who start at once', async () => {
    const ready = new Int32Array(new SharedArrayBuffer(4));
    const workers = Array.from({ length: 4 }, () =>
      startWorker('../test/support/keyMaker', { ready, all: 4, file: join(folder, 'key') }),
    );
    const keys = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0] as string));
    await Promise.all(workers.map((worker) => worker.terminate()));
    assert.equal(new Set(keys).size, 1);
    assert.deepEqual(readdirSync(folder), ['key']);
  });
  it('is not there without a setting and a file', () =>
    assert.equal(givenKey({ fromSetting: undefined, file: join(folder, 'key') }), undefined));
  it('is not taken from a file that holds something else', () => {
    const file = join(folder, 'key');
    writeFileSync(file, 'hello');
    assert.throws(() => givenKey({ fromSetting: undefined, file }), /not a key file/);
    assert.equal(readFileSync(file, 'utf8'), 'hello');
  });
});
