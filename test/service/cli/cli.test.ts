import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { completionFor } from '../../../src/cli/commands/completion.ts';
import { runCommand } from '../../../src/cli/engine/runCommand.ts';
import { commands } from '../../../src/cli/table.ts';
import { runInProcess } from '../../support/command.ts';
import { startProgram } from '../../support/process.ts';
import { programOf } from '../../support/programs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const about = { version: '1.2.3', description: 'a program', footer: '' };

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
      const { status, out, err } = await runInProcess(words.split(' '), {});
      assert.equal(status, 2);
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
      const command = `${process.execPath} ${programOf('main.ts').join(' ')} completion bash ${then}`;
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
