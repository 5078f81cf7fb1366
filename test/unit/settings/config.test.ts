import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newKey } from '@automation-platform/log-proof';
import fc from 'fast-check';
import { keys } from '../../../bench/keys.ts';
import { ConfigFaults, readConfig, settingsHelp } from '../../../src/config.ts';
import { esdbHosts, logUrl } from '../../../src/store/url.ts';
import { auditKey } from '../../support/auditKey.ts';

// Not exported; what the client makes of a connection string.
const { parseConnectionString } = createRequire(import.meta.url)(
  '@eventstore/db-client/dist/Client/parseConnectionString',
) as {
  parseConnectionString: (url: string) => {
    dnsDiscover: boolean;
    hosts: { address: string; port: number }[];
    defaultCredentials?: { username: string; password: string };
    tls?: boolean;
    throwOnAppendFailure?: boolean;
  };
};

const secret = { SECRET_KEY: 'sixteen characters', AUDIT_KEY: auditKey };

/** The faults that an environment has, none when it has none. */
const faults = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
};
const urlFaults = (url: string): readonly string[] => faults({ ...secret, EVENTSTORE_URL: url });

describe('EVENTSTORE_URL', () => {
  it('is a file in DATA_DIR unless it says where', () => {
    assert.deepEqual(readConfig({ DATA_DIR: '/data' }).EVENTSTORE_URL, { file: '/data/events.db' });
    assert.deepEqual(readConfig({ EVENTSTORE_URL: 'sqlite:logs/events.db' }).EVENTSTORE_URL, {
      file: resolve('logs/events.db'),
    });
  });
  it('is a connection string of EventStoreDB, as it stands', () => {
    for (const url of [
      'esdb://log.example.net',
      'esdb://log:2113?tls=false',
      'esdb+discover://nodes:p%40ss%3Aword@log.example.net:2113?nodePreference=leader',
      'esdb://nodes:word@10.0.0.1:2113,10.0.0.2:2113,10.0.0.3:2113/?keepAliveInterval=5000&TLS=true&throw-on-append-failure=true',
    ])
      assert.deepEqual(readConfig({ ...secret, EVENTSTORE_URL: url }).EVENTSTORE_URL, { url });
  });
  it('must be one of these', () => {
    for (const url of ['sqlite:', 'postgres://nodes:hidden@log', 'events.db', 'esdb'])
      assert.match(urlFaults(url).join(), /^EVENTSTORE_URL must be sqlite:<file>, esdb/, url);
  });
  it('names the hosts, which webhooks may not reach', () => {
    assert.deepEqual(esdbHosts('esdb://nodes:word@10.0.0.1:2113,log.example.net/?tls=true'), [
      '10.0.0.1',
      'log.example.net',
    ]);
    assert.deepEqual(esdbHosts('esdb+discover://log.example.net:2113'), ['log.example.net']);
  });

  for (const [url, fault] of [
    ['esdb://', /hosts/],
    ['esdb:log:2113', /cannot be read/],
    ['esdb://log:port', /hosts/],
    ['esdb://log:70000', /hosts/],
    ['esdb://[::1]:2113', /hosts/],
    ['esdb://nodes:hidden@log@elsewhere', /cannot be read/],
    ['esdb://nodes:hid?den@log', /cannot be read/],
    ['esdb://nodes:hid:hidden@log', /credentials/],
    ['esdb://nodes:hidden%zz@log', /credentials/],
    ['esdb://hidden@log', /credentials/],
    ['esdb+discover://nodes:hidden@one:2113,two:2113', /one host/],
    ['esdb://nodes:hidden@log?tls=false', /no credentials without TLS/],
    ['esdb://nodes:hidden@log?TLS=false', /no credentials without TLS/],
    ['esdb://log?tls=no', /tls, which must be true or false/],
    ['esdb://nodes:hidden@log?throwOnAppendFailure=false', /throwOnAppendFailure, which must be true/],
    ['esdb://nodes:hidden@log?tlsVerifyCert=false', /tlsVerifyCert, which must be true/],
    [
      'esdb://nodes:hidden@log?tlsCAFile=/nowhere/ca.pem',
      /tlsCAFile, which names a file that does not exist: \/nowhere\/ca\.pem/,
    ],
    ['esdb://nodes:hidden@log?hidden=1', /not known/],
    ['esdb://nodes:hidden@log?defaultDeadline=hidden', /defaultDeadline, which must be an integer/],
    ['esdb://nodes:hidden@log?', /cannot be read/],
    ['esdb://nodes:hidden@log?tls', /value for tls/],
    ['esdb://nodes:hidden@log?tls=%zz', /value for tls/],
  ] as const) {
    it(`is refused as ${url}, without a word of its password`, () => {
      assert.match(urlFaults(url).join(), fault);
      assert.match(urlFaults(url).join(), /^EVENTSTORE_URL [^,]/);
      assert.doesNotMatch(urlFaults(url).join(), /hid/);
    });
  }

  it('means to the client what it says, whatever it is: nothing is guessed, dropped or printed', () => {
    const warned: unknown[] = [];
    const { warn } = console;
    console.warn = (...words: unknown[]) => {
      warned.push(words);
    };
    const piece = fc.string({
      unit: fc.constantFrom('a', 'Z', '1', '.', '-', '_', ':', '@', '/', '?', '&', '=', '%', '%40', ',', '+', ' '),
      minLength: 1,
      maxLength: 5,
    });
    const pair = fc.oneof(
      fc.constantFrom(
        'tls=true',
        'tls=false',
        'TLS=true',
        't-l_s=false',
        'throwOnAppendFailure=true',
        'throwOnAppendFailure=false',
        'tlsVerifyCert=false',
        'nodePreference=follower',
        'node-preference=ReadOnlyReplica',
        'gossipTimeout=5',
        'x=1',
      ),
      fc.tuple(piece, piece).map((words) => words.join('=')),
    );
    const url = fc
      .record({
        scheme: fc.constantFrom('esdb://', 'esdb+discover://'),
        user: fc.option(fc.tuple(piece, piece)),
        hosts: fc.array(fc.oneof(fc.constantFrom('log', 'log:2113', '10.0.0.1:1'), piece), {
          minLength: 1,
          maxLength: 3,
        }),
        slash: fc.constantFrom('', '/'),
        pairs: fc.array(pair, { maxLength: 3 }),
      })
      .map(
        ({ scheme, user, hosts, slash, pairs }) =>
          `${scheme}${user ? `${user.join(':')}@` : ''}${hosts.join(',')}${slash}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`,
      );
    let taken = 0;
    try {
      fc.assert(
        fc.property(url, (text) => {
          try {
            logUrl(text);
          } catch {
            return;
          }
          taken++;
          const { dnsDiscover, hosts, defaultCredentials, tls, throwOnAppendFailure } = parseConnectionString(
            text.replace(/\/(?=\?)/, ''),
          ); // the client takes the slash for a part of the host, so the adapter takes it away
          const [, user, password] = /^[^@]*\/\/([^:@]*):([^:@]*)@/.exec(text) ?? [];
          assert.deepEqual(
            hosts.map(({ address }) => address),
            esdbHosts(text),
          );
          assert.equal(dnsDiscover, text.startsWith('esdb+discover'));
          assert.deepEqual(
            defaultCredentials,
            user === undefined
              ? undefined
              : { username: decodeURIComponent(user), password: decodeURIComponent(password!) },
          );
          assert.ok(throwOnAppendFailure !== false && (tls !== false || user === undefined));
          assert.deepEqual(warned, []);
        }),
        { numRuns: 5000 },
      );
    } finally {
      console.warn = warn;
    }
    assert.ok(taken > 100, `only ${taken} were taken`);
  });
  it('may name an authority that is there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    writeFileSync(join(folder, 'ca.pem'), '');
    assert.deepEqual(urlFaults(`esdb://log?tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`), []);
    rmSync(folder, { recursive: true });
  });
  it('tells all its faults at once, with those of the settings around it', () => {
    const found = faults({
      EVENTSTORE_URL: 'esdb://nodes:hidden@log?tls=false&throwOnAppendFailure=false&tlsCAFile=/nowhere',
      ESDB_PORT: '2113',
      PORT: 'eighty',
    }).join('\n');
    for (const fault of [
      /^PORT /m,
      /throwOnAppendFailure.*tlsCAFile.*no credentials/,
      /^SECRET_KEY must be set with esdb:\/\/: every node needs the same$/m,
      /^AUDIT_KEY must be set with esdb:\/\/: every node needs the same$/m,
      /^ESDB_PORT cannot be set with esdb:\/\//m,
    ])
      assert.match(found, fault);
    assert.doesNotMatch(found, /hidden/);
  });
});

describe('ESDB_PORT', () => {
  it('is not served unless it is set, and then on loopback', () => {
    const { ESDB_PORT, ESDB_HOST } = readConfig({});
    assert.deepEqual([ESDB_PORT, ESDB_HOST], [undefined, '127.0.0.1']);
    assert.equal(readConfig({ ESDB_PORT: '0' }).ESDB_PORT, 0);
    assert.equal(readConfig({ ESDB_PORT: '2113', ESDB_HOST: '0.0.0.0' }).ESDB_HOST, '0.0.0.0');
    assert.match(faults({ ESDB_PORT: '65536' }).join(), /^ESDB_PORT must be an integer/);
    assert.match(faults({ ESDB_PORT: 'on' }).join(), /^ESDB_PORT must be an integer/);
  });
});

describe('SECRET_KEY', () => {
  it('is a sentence, or what a key file says', () => {
    assert.deepEqual(faults({ SECRET_KEY: `base64:${Buffer.alloc(32, 1).toString('base64')}` }), []);
    assert.deepEqual(faults(secret), []);
    assert.match(faults({ SECRET_KEY: 'too short' }).join(), /^SECRET_KEY must have at least 16 characters$/);
    assert.match(
      faults({ SECRET_KEY: 'base64:c2hvcnQgb2YgaXQ=' }).join(),
      /^SECRET_KEY must have 32 bytes after base64:/,
    );
  });
});

describe('AUDIT_KEY', () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-key-'));
  after(() => rmSync(folder, { recursive: true }));
  it('is an Ed25519 key in PEM, or a file with it; earlier keys may follow', () => {
    const file = join(folder, 'some.pem');
    writeFileSync(file, auditKey);
    const [own] = readConfig({ AUDIT_KEY: auditKey }).AUDIT_KEY ?? [];
    const [same] = readConfig({ AUDIT_KEY: file }).AUDIT_KEY ?? [];
    assert.ok(own);
    assert.equal(same?.key, own.key);
    assert.equal(readConfig({ AUDIT_KEY: auditKey + newKey() }).AUDIT_KEY?.length, 2);
    assert.equal(readConfig({ AUDIT_KEY: auditKey.replaceAll('\n', '\\n') }).AUDIT_KEY?.[0]?.key, own.key);
    assert.equal(readConfig({}).AUDIT_KEY, undefined);
  });
  it('is refused when it is another kind of key, or no file, and is not repeated', () => {
    const { privateKey } = generateKeyPairSync('x25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const other = faults({ AUDIT_KEY: pem }).join();
    assert.match(other, /^AUDIT_KEY has a private key that is not an Ed25519 key in PEM without a password$/);
    assert.match(
      faults({ AUDIT_KEY: join(folder, 'none') }).join(),
      /^AUDIT_KEY is no PEM, and names a file that does/,
    );
    writeFileSync(join(folder, 'empty'), 'x');
    assert.match(faults({ AUDIT_KEY: join(folder, 'empty') }).join(), /^AUDIT_KEY has no private key in PEM$/);
  });
});

describe('AUDIT_ANCHOR', () => {
  it('is a file or an https:// URL', () => {
    assert.deepEqual(readConfig({ AUDIT_ANCHOR: '/var/anchor' }).AUDIT_ANCHOR, { file: '/var/anchor' });
    const url = 'https://anchor.example.net/lines';
    assert.deepEqual(readConfig({ AUDIT_ANCHOR: url }).AUDIT_ANCHOR, { url });
    for (const wrong of ['http://anchor.example.net', 'ftp://x', 'https://'])
      assert.match(faults({ AUDIT_ANCHOR: wrong }).join(), /^AUDIT_ANCHOR must be a file or an https:\/\/ URL$/);
  });
});

describe('METRICS_TOKEN', () => {
  it('is long enough not to be guessed, and can be sent in a header', () => {
    assert.equal(readConfig({}).METRICS_TOKEN, undefined);
    assert.equal(readConfig({ METRICS_TOKEN: 'sixteen-letters.' }).METRICS_TOKEN, 'sixteen-letters.');
    for (const token of ['fifteen-letters', 'with white space in it', 'sixteen-letters-\u00fc', 'sixteen-letters-\n'])
      assert.deepEqual(faults({ METRICS_TOKEN: token }), [
        'METRICS_TOKEN must have at least 16 characters, of ASCII and without white space',
      ]);
  });
});

describe('--help', () => {
  it('tells of each setting on a line', () => {
    for (const name of ['EVENTSTORE_URL', 'ESDB_PORT', 'ESDB_HOST', 'SECRET_KEY', 'AUDIT_KEY', 'METRICS_TOKEN'])
      assert.match(settingsHelp(), new RegExp(`^  ${name} +\\S.* \\(default: `, 'm'));
  });
});

describe('the settings of benchmarks', () => {
  it('start nodes on EventStoreDB', () => {
    assert.ok('url' in readConfig({ EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false', ...keys }).EVENTSTORE_URL);
  });
});
