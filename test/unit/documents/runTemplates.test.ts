import assert from 'node:assert/strict';
import { runCommandTemplate, type Ways } from '../../../src/commands/mop/runTemplates.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { type CommandTemplateDocument, contentOf } from '../../../src/domain/mop/commandTemplates.ts';

const content = (document: Partial<CommandTemplateDocument>) => contentOf({ name: 'Check', ...document });
const version = { command: 'show version', rules: [{ rule: '17.12', eval: 'contains' as const }] };
const clock = {
  command: 'show clock <!zone!>',
  rules: [{ rule: '<!zone!>$', eval: 'RegEx' as const, flags: { multiline: true } }],
};

/** Devices that print what the table says, and nothing else. */
const devices = (
  table: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Ways & { readonly asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    find: async (name) => table[name] ?? assert.fail(new RequestError('not_found', 'No such device')),
    run: async (name, command) => {
      asked.push(`${name}: ${command}`);
      const text = table[name]![command];
      if (text === undefined) throw new RequestError('adapter_failed', `${name} does not answer`);
      return text;
    },
  };
};
const lab = () =>
  devices({
    r1: { 'show version': 'Version 17.12.1', 'show clock UTC': '10:00 UTC\r\nok\r\n' },
    r2: { 'show version': 'Version 17.9.4', 'show clock UTC': '10:00 UTC\nok\n' },
    dead: {},
  });

describe('a run of a command template', () => {
  it('asks every device every command and says which rules hold', async () => {
    const run = await runCommandTemplate(
      content({ commands: [version, clock] }),
      ['r1', 'r2', 'r1'],
      { zone: 'UTC' },
      lab(),
    );
    assert.deepEqual([run.name, run.result, run.all_pass_flag], ['Check', false, true]);
    assert.deepEqual(
      run.commands_results.map(({ device, evaluated, result }) => [device, evaluated, result]),
      [
        ['r1', 'show version', true],
        ['r1', 'show clock UTC', true],
        ['r2', 'show version', false],
        ['r2', 'show clock UTC', true],
      ],
    );
    assert.deepEqual(run.commands_results[1], {
      raw: 'show clock <!zone!>',
      evaluated: 'show clock UTC',
      device: 'r1',
      response: '10:00 UTC\r\nok\r\n',
      result: true,
      all_pass_flag: true,
      rules: [{ rule: 'UTC$', eval: 'RegEx', flags: { multiline: true }, raw: '<!zone!>$', result: true }],
    });
  });

  it('asks a command of several lines line by line', async () => {
    const both = {
      command: 'show version\r\n\nshow clock <!zone!>\n',
      rules: [{ rule: '12.1\n10:00', eval: 'contains' }],
    };
    const ways = lab();
    const run = await runCommandTemplate(content({ commands: [both] }), ['r1', 'r2'], { zone: 'UTC' }, ways);
    assert.deepEqual(
      ways.asked.filter((asked) => asked.startsWith('r1')),
      ['r1: show version', 'r1: show clock UTC'],
    );
    assert.deepEqual(
      run.commands_results.map(({ response, result }) => [response, result]),
      [
        ['Version 17.12.1\n10:00 UTC\r\nok\r\n', true],
        ['Version 17.9.4\n10:00 UTC\nok\n', false],
      ],
    );
  });

  it('wants of each device that all its commands pass, or that one does', async () => {
    const result = async (passRule: boolean, names: readonly string[]) =>
      (await runCommandTemplate(content({ passRule, commands: [version, clock] }), names, { zone: 'UTC' }, lab()))
        .result;
    assert.deepEqual(
      [await result(true, ['r1']), await result(true, ['r1', 'r2']), await result(false, ['r1', 'r2'])],
      [true, false, true],
    );
    assert.equal(await result(false, ['r1', 'dead']), false, 'one device does not make up for another');
  });

  it('tells of a device that fails in its results, and goes on with the others', async () => {
    const run = await runCommandTemplate(
      content({ commands: [{ command: 'show version' }, version] }),
      ['dead', 'r1'],
      {},
      lab(),
    );
    assert.deepEqual(
      run.commands_results.map(({ device, response, result, rules }) => [
        device,
        response,
        result,
        rules.map(({ result }) => result),
      ]),
      [
        ['dead', 'dead does not answer', false, []],
        ['dead', 'dead does not answer', false, [false]],
        ['r1', 'Version 17.12.1', true, []],
        ['r1', 'Version 17.12.1', true, [true]],
      ],
    );
  });

  it('asks nobody when a device is unknown or a variable missing, and names all', async () => {
    const ways = lab();
    await assert.rejects(
      runCommandTemplate(content({ commands: [version] }), ['r1', 'nope', 'r2', 'neither'], {}, ways),
      { code: 'not_found', message: 'No such devices: nope, neither' },
    );
    await assert.rejects(runCommandTemplate(content({ commands: [version, clock] }), ['r1'], {}, ways), {
      code: 'unprocessable',
      message: 'There is no variable "zone"',
    });
    assert.deepEqual(ways.asked, []);
  });

  it('asks at most 8 devices at once, each one command at a time', async () => {
    let [now, most] = [0, 0];
    const busy = new Set<string>();
    const names = Array.from({ length: 30 }, (_, i) => `r${i}`);
    const run = await runCommandTemplate(
      content({ commands: [version, version] }),
      names,
      {},
      {
        find: async () => undefined,
        run: async (name) => {
          assert.ok(!busy.has(name));
          busy.add(name);
          most = Math.max(most, ++now);
          await new Promise((done) => setImmediate(done));
          now -= 1;
          busy.delete(name);
          return '17.12';
        },
      },
    );
    assert.deepEqual([most, run.result, run.commands_results.length], [8, true, 60]);
    assert.deepEqual([...new Set(run.commands_results.map(({ device }) => device))], names);
  });

  it('does not take a bug for a device that fails', async () => {
    await assert.rejects(
      runCommandTemplate(
        content({ commands: [version] }),
        ['r1'],
        {},
        {
          find: async () => undefined,
          run: async () => {
            throw new TypeError('bug');
          },
        },
      ),
      TypeError,
    );
  });

  it('takes no answer of more than a MiB, nor more than 64 MiB together', async () => {
    const text = 'x'.repeat(1024 * 1024);
    const names = Array.from({ length: 80 }, (_, i) => `r${i}`);
    const ways: Ways = { find: async () => undefined, run: async (name) => (name === 'r0' ? `${text}x` : text) };
    const { commands_results: results } = await runCommandTemplate(
      content({ commands: [{ command: 'show tech' }] }),
      names,
      {},
      ways,
    );
    assert.match(results[0]!.response, /more than 1048576 characters/);
    assert.deepEqual(
      results.slice(1, 65).map(({ result }) => result),
      Array.from({ length: 64 }, () => true),
    );
    assert.match(results[79]!.response, /Not asked/);
  });
});
