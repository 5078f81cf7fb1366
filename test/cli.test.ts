import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { argument, command, flag, option, optionOr, UsageError } from '../src/cli/engine/command.ts';
import { completionFor } from '../src/cli/engine/completion.ts';
import { runCommand } from '../src/cli/engine/runCommand.ts';
import { indented } from '../src/cli/indented.ts';
import { type Column, recordWriter } from '../src/cli/records.ts';
import { commands } from '../src/cli/table.ts';
import { startProgram } from './process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const about = { version: '1.2.3', description: 'a program', footer: '' };

describe('a row of the table of commands', () => {
  const seen: unknown[] = [];
  const rows = [
    command({
      name: 'log copy',
      about: 'Copy',
      args: { from: argument('a log'), to: argument('another') },
      options: {
        dryRun: flag('only say'),
        since: option('<time>', 'a time'),
        limit: optionOr('<n>', 'how many', '50'),
      },
      run: async (given) => {
        seen.push(given);
        return given.dryRun ? 3 : 0;
      },
    }),
    command({
      name: 'complain',
      about: 'Complain',
      run: async () => {
        throw new UsageError('not so');
      },
    }),
    command({
      name: 'fail',
      about: 'Fail',
      run: async () => {
        throw new Error('broken');
      },
    }),
  ];

  it('gets its arguments and options by key', async () => {
    assert.equal(await runCommand(rows, about, ['log', 'copy', 'a', 'b']), 0);
    assert.equal(await runCommand(rows, about, ['log', 'copy', 'a', '--dry-run', 'b', '--since', '9', '--limit=7']), 3);
    assert.deepEqual(seen, [
      { from: 'a', to: 'b', dryRun: false, since: undefined, limit: '50' },
      { from: 'a', to: 'b', dryRun: true, since: '9', limit: '7' },
    ]);
  });

  it('says by an error that it was called wrongly; other errors are thrown', async () => {
    assert.equal(await runCommand(rows, about, ['complain']), 2);
    await assert.rejects(runCommand(rows, about, ['fail']), /broken/);
  });

  it('has a name of its own, of one or two words, and is described', () => {
    const names = commands.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const row of commands) {
      assert.match(row.name, /^[a-z-]+( [a-z-]+)?$/);
      assert.match(row.about, /^[A-Z].*[^.]$/, `${row.name}: a sentence without its full stop`);
      for (const [key, parameter] of [...Object.entries(row.args), ...Object.entries(row.options)])
        assert.ok(parameter.about, `${row.name} ${key}`);
    }
  });
});

describe('the command line', function () {
  this.timeout(300_000);

  const called = async (words: readonly string[]) => {
    const program = startProgram(words, {});
    program.child.stdin!.end();
    return { code: await program.ended, ...program.output() };
  };

  for (const [words, message] of [
    ['lgo', /unknown command 'lgo'\n\(Did you mean log\?\)/],
    ['lgo --help', /unknown command 'lgo'\n\(Did you mean log\?\)/],
    ['help exports', /unknown command 'exports'/],
    ['log cpoy a b', /unknown command 'cpoy'\n\(Did you mean copy\?\)/],
    ['xyzzy', /unknown command 'xyzzy'\n\(Commands are serve, account, log, /],
    ['events tail --form 3', /unknown option '--form'\n\(Did you mean --from\?\)/],
    ['--versoin', /unknown option '--versoin'\n\(Did you mean --version\?\)/],
    ['log copy a', /missing required argument 'to'/],
    ['serve it', /too many arguments/],
    ['events tail --from yesterday', /neither start, now nor a position/],
    ['completion fish', /Allowed choices are bash, zsh/],
    ['audit log --since yesterday', /'--since <moment>'.* neither a position nor a time/],
    ['audit log --until 2026-02-30T00:00:00Z', /'--until <moment>'.* neither a position nor a time/],
    ['audit log --resource automation', /'--resource <kind>\/<id>'.* It is not <kind>\/<id>/],
    ['audit log --actor=', /'--actor <id>'.* It is empty/],
    ['audit show automation', /'kind\/id'.* It is not <kind>\/<id>/],
    ['audit as-of automation/a noon', /'moment'.* neither a position nor a time/],
    ['audit diff automation/a 1 noon', /'to'.* neither a position nor a time/],
    ['log copy a b --without-jobs-before 2026-02-30T00:00:00Z', /'--without-jobs-before <time>'.* It is no time/],
    ['log copy a b --without-events-before 9', /'--without-events-before <time>'.* It is no time/],
    ['log copy here there', /<from> must be sqlite:/],
    ['audit verify --key none', /--key is neither an Ed25519 key/],
    ['audit log --actor a --actor b', /'--actor <id>'.* It is given more than once/],
    ['rebuild --url here', /'--url <url>'.* It is no URL/],
    ['log', /Usage: automation-platform log/],
  ] as const)
    it(`"${words}" is called wrongly: status 2`, async () => {
      const { code, out, err } = await called(words.split(' '));
      assert.equal(code, 2);
      assert.match(err, message);
      assert.equal(out, '');
    });

  it('--help and --version are fine: status 0', async () => {
    for (const [words, message] of [
      ['--help', /^Usage: automation-platform \[options\] \[command\]/],
      ['help', /^Usage: automation-platform \[options\] \[command\]/],
      ['serve --help', /^Usage: automation-platform serve[^]*DATA_DIR/],
      ['help log', /^Usage: automation-platform log /],
      ['log copy --help', /^Usage: automation-platform log copy \[options\] <from> <to>/],
      ['--version', /^\d+\.\d+\.\d+\n$/],
    ] as const) {
      const { code, out } = await called(words.split(' '));
      assert.equal(code, 0, words);
      assert.match(out, message);
    }
  });

  it('--help of every command shows that command', async () => {
    for (const { name } of commands) {
      let shown = '';
      const write = process.stdout.write;
      process.stdout.write = (text: string | Uint8Array) => {
        shown += String(text);
        return true;
      };
      const status = await runCommand(commands, about, [...name.split(' '), '--help']).finally(() => {
        process.stdout.write = write;
      });
      assert.equal(status, 0);
      assert.match(shown, new RegExp(`^Usage: automation-platform ${name} `));
    }
  });

  it('an output that nobody reads any more is no error; one on a full disk is status 1 and one sentence', () => {
    const ended = (then: string) => {
      const command = `${process.execPath} --import tsx src/main.ts completion bash ${then}`;
      const { stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8', cwd: root });
      return [stdout.trim(), stderr.trim()];
    };
    assert.deepEqual(ended('| true; echo ${PIPESTATUS[0]}'), ['0', '']);
    const [status, message] = ended('> /dev/full; echo $?');
    assert.equal(status, '1');
    assert.match(message ?? '', /^ENOSPC: no space left on device.*$/);
  });

  it('a password that is not given is asked of nobody', async () => {
    const { code, err } = await called(['rebuild']);
    assert.deepEqual([code, err], [1, 'There is no password: set AUTOMATION_PLATFORM_PASSWORD\n']);
  });

  it('an error of a command is status 1 and one sentence', async () => {
    const { code, err } = await called(['log', 'copy', 'sqlite:/nowhere/a.db', 'sqlite:/nowhere/b.db']);
    assert.deepEqual([code, err], [1, 'There is no log at /nowhere/a.db\n']);
  });
});

describe('completion', () => {
  const script = completionFor('bash', commands);
  const offered = (...words: string[]): readonly string[] => {
    const asking = `
      ${script}
      COMP_WORDS=(automation-platform ${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length}
      _automation_platform
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '-c', asking], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  };

  it('in bash offers commands, options and choices', () => {
    const first = new Set(commands.map(({ name }) => name.split(' ')[0]));
    assert.deepEqual(offered(''), [...first, '--help', '--version']);
    assert.deepEqual(offered('lo'), ['log']);
    assert.ok(offered('log', '').includes('copy'));
    assert.deepEqual(offered('log', 'copy', '--sk'), ['--skip-incomplete']);
    assert.deepEqual(offered('log', 'copy', 'a', 'b', '--sk'), ['--skip-incomplete']);
    assert.deepEqual(offered('events', 'tail', '--source', 'log', '--fr'), ['--from']);
    assert.deepEqual(offered('completion', 'z'), ['zsh']);
    assert.deepEqual(offered('nothing', 'x'), []);
  });

  it('in zsh is a script that zsh reads', function () {
    const text = completionFor('zsh', commands);
    assert.match(text, /^#compdef automation-platform\n/);
    for (const { name } of commands) assert.ok(text.includes(`'${name}') known=(`), name);
    const checked = spawnSync('zsh', ['-n'], { input: text });
    if (checked.error) this.skip();
    assert.equal(checked.status, 0, String(checked.stderr));
  });
});

describe('what a command loads before it is called', () => {
  const source = fileURLToPath(new URL('../src/', import.meta.url));

  /** The files and packages that a file of src imports before it does anything, and theirs. */
  const loadedBy = (entry: string): ReadonlySet<string> => {
    const found = new Set<string>();
    const walk = (file: string): void => {
      if (found.has(file)) return;
      found.add(file);
      if (!file.endsWith('.ts')) return;
      const text = readFileSync(join(source, file), 'utf8');
      const imports = /^(?:import|export) (?!type )(?:[^;']*? from )?'([^']+)';$/gm;
      for (const [, from = ''] of text.matchAll(imports)) walk(from.startsWith('.') ? join(dirname(file), from) : from);
    };
    walk(entry);
    return found;
  };

  it('is not the service, for --help and events tail', () => {
    for (const entry of ['main.ts', 'cli/eventsTail.ts', 'cli/askService.ts']) {
      const loaded = [...loadedBy(entry)].filter((name) => !name.startsWith('node:'));
      const packages = loaded.filter((name) => !name.endsWith('.ts'));
      assert.deepEqual(packages, entry === 'main.ts' ? ['commander'] : []);
      const folders = new Set(loaded.map((name) => name.split('/')[0]));
      for (const folder of ['http', 'commands', 'projections', 'runners', 'start.ts'])
        assert.ok(!folders.has(folder), `${entry} loads ${folder}: ${loaded.filter((one) => one.startsWith(folder))}`);
    }
  });
});

describe('a document on a terminal', () => {
  it('has a line for each member, as JSON.stringify writes it', () => {
    for (const value of [{}, [], 'a', { a: [], b: {}, c: [1, { d: 'x:{,}[]"\\' }], e: null }])
      assert.equal(indented(JSON.stringify(value)), JSON.stringify(value, null, 2));
  });

  it('keeps numbers as they are written, and no control character', () => {
    assert.equal(indented('{"n":12345678901234567890,"m":1.0}'), '{\n  "n": 12345678901234567890,\n  "m": 1.0\n}');
    assert.equal(indented('{"a":"x\u009b2J"}'), '{\n  "a": "x\\u009b2J"\n}');
  });
});

describe('records', () => {
  type Two = { readonly name: string; readonly about: string };
  const columns: readonly Column<Two>[] = [
    { heading: 'name', width: 6, text: ({ name }) => name },
    { heading: 'about', width: 0, text: ({ about }) => about },
  ];
  const record = { name: 'a', about: 'x\u001b[2J' };
  const written = async (isTTY: boolean, records: readonly Two[]): Promise<string> => {
    const output = Object.assign(new PassThrough(), { isTTY, columns: 12 });
    const writer = recordWriter(output, columns);
    for (const one of records) await writer.write(one);
    return String(output.read() ?? '');
  };

  it('are lines of JSON where the output is no terminal', async () =>
    assert.deepEqual(
      (await written(false, [record]))
        .split('\n')
        .slice(0, 1)
        .map((line) => JSON.parse(line)),
      [record],
    ));

  it('are a table on a terminal, which obeys nothing in them', async () =>
    assert.equal(
      await written(true, [record, { name: 'b', about: 'a long text' }]),
      'name   about\na      x [2J\nb      a lo…\n',
    ));
});
