import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { indented } from '../../../src/cli/audit.ts';
import { argument, command, flag, option, optionOr, UsageError } from '../../../src/cli/engine/command.ts';
import { runCommand } from '../../../src/cli/engine/runCommand.ts';
import { type Column, recordWriter } from '../../../src/cli/records.ts';
import { commands } from '../../../src/cli/table.ts';

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

describe('what a command loads before it is called', () => {
  const source = fileURLToPath(new URL('../../../src/', import.meta.url));

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

  /** Our packages that use none of others. */
  const light = ['client', 'json', 'log-proof'].map((name) => `@automation-platform/${name}`);

  it('is not the service, for --help and events tail', () => {
    for (const entry of ['main.ts', 'cli/commands/eventsTail.ts', 'cli/askService.ts']) {
      const loaded = [...loadedBy(entry)].filter((name) => !name.startsWith('node:'));
      const packages = loaded.filter((name) => !name.endsWith('.ts') && !light.includes(name));
      assert.deepEqual(packages, entry === 'main.ts' ? ['commander'] : []);
      const folders = new Set(loaded.map((name) => name.split('/')[0]));
      for (const folder of ['http', 'commands', 'projections', 'runners', 'service'])
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
