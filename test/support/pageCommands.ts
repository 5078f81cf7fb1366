import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { ok } from './people.ts';
import type { Server } from './process.ts';
import { programOf } from './programs.ts';
import { basic, type TestService } from './service.ts';

const isMissing = ['bash', 'curl'].some((tool) => spawnSync(tool, ['--version']).error);

/** The blocks of a page that are in this language. */
export const blocksIn = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, block]) => block!);

/** A token of the admin of a service, as pages use it. */
export const pageToken = async ({ ask }: Pick<Server | TestService, 'ask'>, password: string): Promise<string> => {
  const Authorization = basic({ user: 'admin', password });
  return ok(await ask('POST', '/authorization/tokens', { name: 'page' }, { Authorization })).data.token;
};

/** Declares the test; skips it on a machine without bash and curl. */
export const itWithShell = (title: string, test: (this: Mocha.Context) => Promise<void>): Mocha.Test =>
  (isMissing ? it.skip : it)(title, test);

type Place = {
  /** API_TOKEN of the page. */
  readonly token: string;
  readonly url: string;
  readonly folder: string;
  readonly directory?: string;
  readonly issuer?: string;
  readonly device?: string;
};

/**
 * Runs all blocks in `sh` of a page as one script in the folder, against the service at this URL, and checks that its
 * output has each text after `#=> `, in that order.
 */
export const runPage = async (
  page: string,
  { url, folder, token, directory = '', issuer = '', device = '' }: Place,
) => {
  const present: Readonly<Record<string, string>> = {
    'http://127.0.0.1:3000': url,
    'ldap://127.0.0.1:3890': directory,
    'http://127.0.0.1:3900': issuer,
    'ssh://127.0.0.1:2222': device,
  };
  const script = blocksIn(page, 'sh')
    .join('\n')
    // In one pass: a port that is put in may begin like one of the page.
    .replaceAll(/\w+:\/\/127\.0\.0\.1:\d+/g, (address) => present[address] ?? address)
    .replaceAll('node dist/main.js', `${process.execPath} ${programOf('main.ts').join(' ')}`)
    .split('\n')
    .filter((line) => !line.startsWith('#=> '))
    .join('\n');
  const all = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${script}`;
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', all], {
    cwd: folder,
    timeout: 100_000,
    env: { ...process.env, API_TOKEN: token },
  });
  const promised = [...page.matchAll(/^#=> (.*)$/gm)];
  assert.ok(promised.length > 0);
  let end = 0;
  for (const [, text = ''] of promised) {
    const at = stdout.indexOf(text, end);
    assert.ok(at >= 0, `${text}\nis not behind the texts before it in\n${stdout}`);
    end = at + text.length;
  }
};
