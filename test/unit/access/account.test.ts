import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setPassword } from '../../../src/cli/commands/accountPasswd.ts';
import { readPassword } from '../../../src/cli/password.ts';
import { readConfig } from '../../../src/config.ts';

describe('account passwd without a log', () => {
  it('says so and makes none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    await assert.rejects(
      setPassword(readConfig({ DATA_DIR: folder }), 'admin', { input: Readable.from(['a new password\n']) }),
      /no event log/,
    );
    assert.deepEqual(readdirSync(folder), []);
    rmSync(folder, { recursive: true });
  });
});

describe('a password typed on a terminal', () => {
  const terminal = () => {
    const input = Object.assign(new PassThrough(), {
      isTTY: true,
      raw: [] as boolean[],
      setRawMode: (mode: boolean) => {
        input.raw.push(mode);
      },
    });
    const output = new PassThrough();
    let shown = '';
    output.on('data', (chunk: Buffer) => {
      shown += chunk;
    });
    /** Types once it is asked. */
    const type = async (prompt: RegExp, text: string) => {
      while (!prompt.test(shown))
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      input.write(text);
    };
    return { input, output, type, shown: () => shown };
  };

  it('is asked for twice and never shown', async () => {
    const { input, output, type, shown } = terminal();
    const password = readPassword(input, output);
    await type(/New password: $/, 'pass wörd\r');
    await type(/Once more: $/, 'pass wörd\r');
    assert.equal(await password, 'pass wörd');
    assert.equal(shown(), 'New password: \nOnce more: \n');
    assert.deepEqual(input.raw, [true, false, true, false]);
  });
  it('must be the same twice', async () => {
    const { input, output, type } = terminal();
    const password = readPassword(input, output);
    await Promise.all([
      assert.rejects(password, /not the same/),
      type(/New password: $/, 'one\r').then(() => type(/Once more: $/, 'other\r')),
    ]);
  });
  it('may be left with Ctrl-C', async () => {
    const { input, output, type } = terminal();
    const password = readPassword(input, output);
    await Promise.all([assert.rejects(password, /No password/), type(/New password: $/, 'secret\x03')]);
  });
});
