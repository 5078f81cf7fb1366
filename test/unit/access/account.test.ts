import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { readPassword } from '../../../src/cli/password.ts';

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
