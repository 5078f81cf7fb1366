import assert from 'node:assert/strict';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type DigestSigned, fingerprintOf, keysInPem, newKey, signedLine } from '@automation-platform/log-proof';
import { verifyAndShow } from '../../../src/cli/commands/auditVerify.ts';
import { exportFile } from '../../../src/cli/commands/export.ts';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { readConfig } from '../../../src/config.ts';
import { fileSource } from '../../../src/store/sources.ts';
import { openFile } from '../../../src/store/sqlite/log.ts';
import { noteOf } from '../../../src/store/sqlite/note.ts';
import { runInProcess } from '../../support/command.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { writeLog as writeUnsigned } from '../../support/movingLog.ts';
import { sampled } from '../../support/sample.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { keysOf, writeLog } from '../../support/signedLog.ts';

describe('audit verify', () => {
  let folder: string;
  let file: string;
  const ownPem = newKey();
  const [own] = keysInPem(ownPem);
  assert.ok(own);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'audit-verify-'));
    file = join(folder, 'events.db');
    await writeLog(file, keysOf(own));
  });
  after(() => rmSync(folder, { recursive: true }));

  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { status, out, err } = await runInProcess(['audit', 'verify', ...args], { DATA_DIR: folder, ...env });
    return { status, err, lines: out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])) };
  };

  /** What a person sees on a terminal. */
  const seen = async (log: string, more: { key?: string; anchor?: string } = {}) => {
    const output = Object.assign(new PassThrough(), { isTTY: true });
    const { key, anchor } = more;
    const config = readConfig({ DATA_DIR: folder, ...(anchor !== undefined && { AUDIT_ANCHOR: anchor }) });
    const status = await verifyAndShow({
      log,
      key,
      config,
      signal: new AbortController().signal,
      output,
      messages: new PassThrough(),
    });
    output.end();
    let text = '';
    for await (const chunk of output) text += chunk;
    return { status, text };
  };

  const damage = (copy: string): void => {
    const db = openFile(copy, { timeout: 0 });
    db.exec("UPDATE events SET data = replace(data, 'happened', 'hapqened') WHERE position = 300");
    db.close();
  };

  it('prints the coverage as its last line, and the keys that it believed', async () => {
    const { status, lines, err } = await run([]);
    assert.equal(status, 0, err);
    assert.equal(lines.length, 1);
    const { verified, signed, uncovered, ...more } = lines[0];
    assert.deepEqual([more, verified], [{}, signed + uncovered]);
    assert.ok(err.includes(`the keys that the log holds are believed: ${fingerprintOf(own.key)}.`), err);
    assert.ok(err.includes('Without an anchor, a thief of the key could have signed the log anew'), err);
  });

  it('takes the log and the key that are given, and ends with 3 if it found something', async () => {
    const copy = join(folder, 'damaged.db');
    await logCopy(`sqlite:${file}`, `sqlite:${copy}`, new AbortController().signal, { output: new PassThrough() });
    damage(copy);
    const { status, lines, err } = await run([`sqlite:${copy}`, '--key', own.key]);
    assert.equal(status, 3, err);
    assert.deepEqual([lines.length, lines[0].position, lines[0].finding], [2, 300, 'altered']);
    assert.ok(err.includes('These keys are believed, the given one and those that follow from it'), err);
    const wrong = await run([`sqlite:${copy}`, '--key', 'no key']);
    assert.equal(wrong.status, 2);
    assert.match(wrong.err, /^error: --key is neither an Ed25519 key in PEM/);
    assert.equal((await run([`sqlite:${join(folder, 'none.db')}`])).status, 1);
  });

  it('says on a terminal what is covered, in words', async () => {
    const { status, text } = await seen('');
    assert.equal(status, 0);
    assert.match(text, /^No key was given.*\n\d+ events were verified. Signatures prove \d+ of them. No signature/);
    const copy = join(folder, 'cut.db');
    await logCopy(`sqlite:${file}`, `sqlite:${copy}`, new AbortController().signal, { output: new PassThrough() });
    const db = openFile(copy, { timeout: 0 });
    db.exec('DELETE FROM events WHERE position > 900');
    db.close();
    const cut = await seen(`sqlite:${copy}`);
    assert.equal(cut.status, 3);
    assert.match(cut.text, /^position +finding +what\n901 to \d+ +cut +The note beside the log/);
  });

  it('reads the file that was told the signatures', async () => {
    const source = fileSource(file);
    const line = (log: string) => async () =>
      (await source.proofs()).map(({ data }) =>
        JSON.stringify(signedLine({ log, at: '2026-01-01T00:00:00.000Z' }, JSON.parse(data) as DigestSigned)),
      );
    const anchor = join(folder, 'anchor.ndjson');
    writeFileSync(anchor, `${(await line(source.id ?? '')()).join('\n')}\n{"torn`);
    await source.close();
    const { status, text } = await seen('', { anchor });
    assert.equal(status, 0);
    assert.match(text, /The anchor was told 4 signatures of this log/);
    const copy = join(folder, 'shorter.db');
    await logCopy(`sqlite:${file}`, `sqlite:${copy}`, new AbortController().signal, { output: new PassThrough() });
    const db = openFile(copy, { timeout: 0 });
    db.exec('DELETE FROM events WHERE position > 900');
    db.close();
    rmSync(noteOf(copy));
    const cut = await seen(`sqlite:${copy}`, { anchor });
    assert.match(cut.text, /900 +cut +The anchor was told/, 'the copy has another id, but its signatures are told');
  });

  it('says of an anchor that is set and proves nothing why that is so', async () => {
    const anchor = join(folder, 'taken-away.ndjson');
    assert.match((await seen('', { anchor })).text, /taken-away\.ndjson is not there\. Without an anchor/);
    writeFileSync(anchor, '{"torn');
    assert.match((await seen('', { anchor })).text, /taken-away\.ndjson says nothing of this log\. Without an anchor/);
    assert.match((await seen('', { anchor: folder })).text, /is not there\. Without an anchor/);
    assert.match((await seen('', { anchor: 'https://anchor.example' })).text, /is a URL, which is not read/);
    assert.match((await seen('')).text, /\nWithout an anchor/);
  });

  describe('of an export', () => {
    const exported = (): string => join(folder, 'log.ndjson');
    const exportTo = async (config: Parameters<typeof exportFile>[0]): Promise<void> => {
      const output = createWriteStream(exported());
      await exportFile(config, new AbortController().signal, { output, messages: new PassThrough() });
      output.end();
      await finished(output);
    };

    it('covers all events where the export is signed', async () => {
      await exportTo(readConfig({ DATA_DIR: folder, AUDIT_KEY: ownPem }));
      const { status, lines, err } = await run([exported()]);
      assert.equal(status, 0, err + JSON.stringify(lines));
      assert.deepEqual([lines[0].signed, lines[0].uncovered], [lines[0].verified, 0]);
      await exportTo(readConfig({ DATA_DIR: folder }));
      const unsigned = await run([exported()]);
      assert.deepEqual(unsigned.lines, (await run([])).lines, 'as much as in the log itself');
    });

    it('counts the signature of the export only by the key of the log, or by the one that is given', async () => {
      const otherPem = newKey();
      const [other] = keysInPem(otherPem);
      assert.ok(other);
      await exportTo(readConfig({ DATA_DIR: folder, AUDIT_KEY: otherPem }));
      for (const more of [[], ['--key', own.key]]) {
        const { status, lines } = await run([exported(), ...more]);
        const [{ message }, coverage] = lines;
        assert.equal(status, 3);
        assert.equal(message, `The export is signed by a key that is not that of the log: ${fingerprintOf(other.key)}`);
        assert.ok(coverage.uncovered > 50, 'only the signatures in the log count');
      }
    });

    it('believes the key of the export where the log was never signed', async () => {
      const [young, log] = [join(folder, 'young'), join(folder, 'young.ndjson')];
      mkdirSync(young);
      writeUnsigned(join(young, 'events.db'), 200);
      const output = createWriteStream(log);
      const config = readConfig({ DATA_DIR: young, AUDIT_KEY: ownPem });
      await exportFile(config, new AbortController().signal, { output, messages: new PassThrough() });
      output.end();
      await finished(output);
      for (const more of [[], ['--key', own.key]]) {
        const { status, lines, err } = await run([log, ...more]);
        assert.deepEqual([status, lines], [0, [{ verified: 200, signed: 200, uncovered: 0 }]]);
        assert.ok(err.includes(fingerprintOf(own.key)), err);
      }
      const [stranger] = keysInPem(newKey());
      assert.equal((await run([log, '--key', stranger?.key ?? ''])).status, 3);
    });

    it('names an event whose position was changed, and no others', async () => {
      await exportTo(readConfig({ DATA_DIR: folder, AUDIT_KEY: ownPem }));
      const lines = readFileSync(exported(), 'utf8').trimEnd().split('\n');
      for (const position of sampled([3, 299, 301, 302, 1e6], 2)) {
        const changed = lines.map((line) => line.replace('{"position":300,', `{"position":${position},`));
        writeFileSync(exported(), `${changed.join('\n')}\n`);
        const { status, lines: found } = await run([exported()]);
        assert.equal(status, 3);
        const placed = found.flatMap(({ position: at, finding }) => (at === undefined ? [] : [[at, finding]]));
        assert.deepEqual(placed, [[300, 'altered or reordered']], `position ${position}`);
        const ranges = found.flatMap(({ from, to }) => (from === undefined ? [] : [[from, to]]));
        assert.deepEqual(ranges, [[1, lines.length - 2]], 'the digest at the end shows it too');
      }
    });

    it('names lines that were exchanged or doubled, and no others', async () => {
      await exportTo(readConfig({ DATA_DIR: folder }));
      const lines = readFileSync(exported(), 'utf8').trimEnd().split('\n');
      const found = async (changed: readonly (string | undefined)[]) => {
        writeFileSync(exported(), `${changed.join('\n')}\n`);
        const { lines: all } = await run([exported()]);
        const wrong = all.filter(({ message }) => /says that it is at position/.test(message));
        return wrong.map(({ position }) => position);
      };
      assert.deepEqual(await found(lines.with(300, lines[500] ?? '').with(500, lines[300] ?? '')), [300, 500]);
      assert.deepEqual(await found(lines.with(300, lines[301] ?? '').with(301, lines[300] ?? '')), [299]);
      assert.deepEqual(await found(lines.toSpliced(300, 0, lines[300] ?? '')), [300]);
    });

    it('names what was altered, also where the export has no end any more', async () => {
      await exportTo(readConfig({ DATA_DIR: folder }));
      const lines = readFileSync(exported(), 'utf8').trimEnd().split('\n');
      const changed = lines.map((line) =>
        line.startsWith('{"position":300,') ? line.replace('happened', 'hapqened') : line,
      );
      writeFileSync(exported(), `${changed.join('\n')}\n`);
      const altered = await run([exported()]);
      assert.equal(altered.status, 3);
      assert.ok(altered.lines.some(({ position, finding }) => position === 300 && finding === 'altered'));
      writeFileSync(exported(), `${lines.slice(0, 900).join('\n')}\n`);
      const cut = await run([exported()]);
      assert.deepEqual([cut.status, cut.lines[0].finding], [3, 'cut']);
      const removed = lines.filter((line) => !line.startsWith('{"position":300,'));
      writeFileSync(exported(), `${removed.join('\n')}\n`);
      const missing = await run([exported()]);
      assert.ok(missing.lines.some(({ finding }) => finding === 'missing'));
      writeFileSync(exported(), 'something else');
      assert.match((await run([exported()])).err, /is no export of a log/);
    });
  });

  it('goes for EventStoreDB, where a copy keeps its signatures', async () => {
    const memory = memoryEventStore();
    const server = await scriptedEventStore(memory.handlers);
    try {
      await logCopy(`sqlite:${file}`, server.url, new AbortController().signal, { output: new PassThrough() });
      const here = await run([]);
      const there = await run([server.url]);
      assert.equal(there.status, 0, there.err + JSON.stringify(there.lines));
      assert.deepEqual(there.lines, here.lines);
      memory.event('commandTemplate-3', 'other');
      const touched = await run([server.url]);
      assert.equal(touched.status, 3);
      assert.equal(touched.lines[0].finding, 'inserted');
    } finally {
      server.stop();
    }
  });
});
