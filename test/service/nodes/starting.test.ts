import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { readConfig } from '../../../src/config.ts';
import { serviceLogger } from '../../../src/process/logger.ts';
import { ownCertificate } from '../../../src/secrets/certificate.ts';
import { startService } from '../../../src/service/start.ts';
import { lockFolder } from '../../../src/store/sqlite/log.ts';
import { auditKey } from '../../support/auditKey.ts';
import { gateway } from '../../support/certificates.ts';
import { type Program, startProgram, temporaryFolder, watched } from '../../support/process.ts';
import { sampled } from '../../support/sample.ts';

/** The messages that a program has logged so far. */
const logged = (program: Program): string[] =>
  program
    .output()
    .out.split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).msg);

const printed = async (program: Program, text: RegExp): Promise<void> => {
  while (!text.test(program.output().err)) {
    await Promise.race([
      once(program.child.stderr!, 'data'),
      program.ended.then((code) => {
        throw new Error(`ended with ${code}: ${program.output().err}`);
      }),
    ]);
  }
};

const running = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const endsSaying = async (program: Program, says: string): Promise<void> => {
  assert.equal(await program.ended, 1);
  const { out, err } = program.output();
  assert.ok(
    err.split('\n').some((line) => line.startsWith(says)),
    `${says}\nis not in\n${err}`,
  );
  assert.doesNotMatch(out + err, /^ +at /m, 'no stack');
};

describe('the start', () => {
  let folder: string;
  let occupied: Server;
  beforeEach(async () => {
    folder = temporaryFolder();
    occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
  });
  let unlock = (): void => undefined;
  /** The group of processes that a test has started, which a test that fails may have left. */
  let group: number | undefined;
  afterEach(async () => {
    unlock();
    unlock = () => undefined;
    if (group !== undefined && running(-group)) process.kill(-group, 'SIGKILL');
    group = undefined;
    occupied.close();
    await once(occupied, 'close');
    rmSync(folder, { recursive: true, force: true });
  });
  const port = (): string => String((occupied.address() as AddressInfo).port);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  type Wrong = { readonly [what: string]: () => Promise<{ settings: Record<string, string>; says: string }> };

  /** Found before anything is open. */
  const early: Wrong = {
    'a data folder where none can be made': async () => ({
      settings: { DATA_DIR: '/proc/self/data' },
      says: 'DATA_DIR /proc/self/data does not exist',
    }),
    'a data folder that is a file': async () => ({
      settings: { DATA_DIR: file('data', '') },
      says: `DATA_DIR ${join(folder, 'data')} is a file, not a folder`,
    }),
    'a data folder of a node that runs': async () => {
      unlock = lockFolder(join(folder, 'lock.db'));
      const settings = { EVENTSTORE_URL: 'esdb://127.0.0.1:1', SECRET_KEY: 'sixteen characters', AUDIT_KEY: auditKey };
      return {
        settings: { ...settings, DATA_DIR: folder },
        says: `DATA_DIR ${folder}: Another process runs in ${folder}`,
      };
    },
    'a data folder in a file': async () => ({
      settings: { DATA_DIR: `${file('data', '')}/below` },
      says: `DATA_DIR ${join(folder, 'data/below')} lies in something that is no folder`,
    }),
    'a log that is something else': async () => ({
      settings: { EVENTSTORE_URL: `sqlite:${file('log', 'no log, but long enough to look like one'.repeat(100))}` },
      says: `EVENTSTORE_URL sqlite:${join(folder, 'log')}: `,
    }),
    'a certificate that is none': async () => {
      const [cert, key] = [file('cert.pem', 'none'), file('key.pem', 'none')];
      return {
        settings: { TLS_CERT_FILE: cert, TLS_KEY_FILE: key },
        says: `  TLS_CERT_FILE names a file that is no PEM certificate: ${cert}`,
      };
    },
    'a key that is none': async () => {
      const [cert, key] = [file('cert.pem', gateway), file('key.pem', gateway)];
      return {
        settings: { TLS_CERT_FILE: cert, TLS_KEY_FILE: key },
        says: `  TLS_KEY_FILE names a file that is no PEM private key without a passphrase: ${key}`,
      };
    },
    'a key of another certificate': async () => {
      const [cert, key] = [
        file('cert.pem', gateway),
        file('key.pem', (await ownCertificate(folder, '127.0.0.1', () => undefined)).key),
      ];
      return {
        settings: { TLS_CERT_FILE: cert, TLS_KEY_FILE: key },
        says: `  TLS_KEY_FILE is not the key of TLS_CERT_FILE: ${key}, ${cert}`,
      };
    },
    'a folder as certificate': async () => ({
      settings: { TLS_CERT_FILE: folder, TLS_KEY_FILE: folder },
      says: `  TLS_CERT_FILE names a folder or a device, not a file: ${folder}`,
    }),
    'a Redis that cannot be': async () => ({
      settings: { READSTORE_URL: 'redis://user:hidden@127.0.0.1/readmodels' },
      says: '  READSTORE_URL must be memory: or redis://[user:password@]host:port[/db]',
    }),
  };
  for (const [what, fault] of Object.entries(early)) {
    it(`names the setting of ${what} in one sentence`, async () => {
      const { settings, says } = await fault();
      const start = async () =>
        startService(
          readConfig({ PORT: '0', DATA_DIR: join(folder, 'own'), ...settings }),
          serviceLogger('silent', process.stdout),
          () => undefined,
        );
      await assert.rejects(start, ({ message }: Error) => {
        assert.ok(
          message.split('\n').some((line) => line.startsWith(says)),
          `${says}\nis not in\n${message}`,
        );
        assert.doesNotMatch(message, /hidden/, 'no password');
        return true;
      });
    });
  }

  const late: Wrong = {
    'a log that nobody answers for': async () => ({
      settings: {
        EVENTSTORE_URL: 'esdb://node:hidden@127.0.0.1:1',
        SECRET_KEY: 'sixteen characters',
        AUDIT_KEY: auditKey,
      },
      says: 'EVENTSTORE_URL esdb://***@127.0.0.1:1: ',
    }),
    'a port that is in use': async () => ({
      settings: { PORT: port(), HOST: '127.0.0.1' },
      says: `PORT ${port()} on HOST 127.0.0.1 is in use`,
    }),
    'an address of another machine': async () => ({
      settings: { HOST: '192.0.2.1' },
      says: 'PORT 0 on HOST 192.0.2.1 is no address of this machine',
    }),
    'a port for the log that is in use': async () => ({
      settings: { ESDB_PORT: port() },
      says: `ESDB_PORT ${port()} on ESDB_HOST 127.0.0.1 is in use`,
    }),
    'a key file that is none': async () => {
      file('secret.key', 'short');
      return {
        settings: { DATA_DIR: folder },
        says: `SECRET_KEY is not set, and ${join(folder, 'secret.key')} is not a key file`,
      };
    },
    'a key of signatures that is none': async () => {
      file('audit.key', 'short');
      return { settings: { DATA_DIR: folder }, says: `${join(folder, 'audit.key')} has no private key in PEM` };
    },
  };
  for (const [what, fault] of sampled(Object.entries(late), 2)) {
    it(`names the setting of ${what} in one sentence, and ends with 1`, async () => {
      const { settings, says } = await fault();
      await endsSaying(startProgram([], { PORT: '0', DATA_DIR: join(folder, 'own'), ...settings }), says);
    });
  }

  it('names them in the demo, too', () =>
    endsSaying(
      startProgram(
        [],
        { PORT: '0', ESDB_PORT: '', DATA_DIR: folder, READSTORE_URL: 'mongodb://db' },
        { entry: 'demo/main.ts' },
      ),
      '  READSTORE_URL must be memory: or redis://',
    ));

  for (const entry of sampled(['main.ts', 'demo/main.ts'], 1)) {
    it(`logs a line for each step of the life of ${entry}`, async () => {
      const program = startProgram([], { PORT: '0', ESDB_PORT: '', DATA_DIR: folder, LOG_LEVEL: 'info' }, { entry });
      await printed(program, /listens on/);
      program.child.kill('SIGTERM');
      assert.equal(await program.ended, 0);
      const steps = ['starting', 'ready', 'stopping', 'stopped'];
      assert.deepEqual(
        logged(program).filter((message) => steps.includes(message)),
        steps,
      );
    });
  }

  it('stops what npm start has started when npm is told to end', async () => {
    const npm = watched(
      spawn('npm', ['start'], {
        cwd: new URL('../../..', import.meta.url),
        env: { ...process.env, npm_config_script_shell: '/bin/sh', PORT: '0', DATA_DIR: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    group = npm.child.pid;
    await printed(npm, /^Building[^]*listens on/);
    npm.child.kill('SIGTERM');
    assert.equal(await npm.ended, 0, npm.output().err);
    const lines = npm
      .output()
      .out.split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const { pid } = lines.find(({ msg }) => msg === 'starting');
    assert.equal(lines.at(-1).msg, 'stopped');
    assert.equal(running(pid), false, 'the service is an orphan');
    assert.ok(existsSync(join(folder, 'events.db')));
  });
});
