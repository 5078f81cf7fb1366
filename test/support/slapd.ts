import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'ldapts';
import { authorityFile, ownCertificate } from '../../src/secrets/certificate.ts';
import { freePort } from './freePort.ts';
import { until } from './until.ts';

/** A directory of Debian's slapd, with the base dc=example and the searcher cn=searcher,dc=example. */
export type Slapd = {
  /** ldap://localhost:port; it takes StartTLS. */
  readonly plain: string;
  /** ldaps://localhost:port */
  readonly tls: string;
  /** The authority of its certificate. */
  readonly ca: string;
  readonly pid: number;
  stop(): Promise<void>;
  /** It answers nothing any more, and its connections stay; or it goes on. */
  pause(): void;
  resume(): void;
  /** Changes entries, as the searcher. */
  change(work: (client: Client) => Promise<void>): Promise<void>;
};

export const searcher = { bindDn: 'cn=searcher,dc=example', bindPassword: 'password of searcher' };

const slapd = ['/usr/sbin/slapd', '/usr/local/sbin/slapd', '/usr/local/libexec/slapd'].find((path) => existsSync(path));

/** True where no directory can be started. In CI that is a failure. */
export const isWithoutSlapd = !slapd && process.env['CI'] !== 'true';

const modules = ['/usr/lib/ldap', '/usr/local/libexec/openldap'].find((path) => existsSync(path)) ?? '';

const configuration = (folder: string, more: readonly string[]) => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath ${modules}
${['back_mdb', ...more].map((module) => `moduleload ${module}`).join('\n')}
pidfile ${folder}/pid
TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
sizelimit unlimited
referral ldap://localhost:1
database mdb
directory ${folder}/db
maxsize 268435456
suffix dc=example
rootdn ${searcher.bindDn}
rootpw "${searcher.bindPassword}"
dbnosync
index objectClass,uid,member,cn eq
access to attrs=userPassword by anonymous auth by * none
access to dn.subtree="ou=groups,dc=example" by users read by * none
access to * by * read
`;

/** The hash of a password as slapd makes it with its module argon2. */
export const argon2Of = (password: string): string => {
  const options = ['-o', `module-path=${modules}`, '-o', 'module-load=argon2', '-h', '{ARGON2}'];
  return execFileSync(slapd!, ['-T', 'passwd', ...options, '-n', '-s', password]).toString();
};

/** The entry of a person below ou=people. */
export const personEntry = (uid: string, more: Readonly<Record<string, string>> = {}): string =>
  entry(`uid=${uid},ou=people,dc=example`, {
    objectClass: 'inetOrgPerson',
    uid,
    cn: uid,
    sn: uid,
    userPassword: `password of ${uid}`,
    ...more,
  });

/** The entry of a group below ou=groups. */
export const groupEntry = (cn: string, members: readonly string[]): string =>
  `${entry(`cn=${cn},ou=groups,dc=example`, { objectClass: 'groupOfNames', cn }).trimEnd()}\n${members
    .map((member) => line('member', member))
    .join('\n')}\n\n`;

const line = (name: string, value: string) => `${name}:: ${Buffer.from(value).toString('base64')}`;
const entry = (dn: string, members: Readonly<Record<string, string>>): string =>
  `${[['dn', dn], ...Object.entries(members)].map(([name = '', value = '']) => line(name, value)).join('\n')}\n\n`;

const base = ['dn: dc=example\nobjectClass: organization\nobjectClass: dcObject\no: Example\ndc: example\n\n'];
for (const ou of ['people', 'groups'])
  base.push(`dn: ou=${ou},dc=example\nobjectClass: organizationalUnit\nou: ${ou}\n\n`);

/** Starts a directory with these entries, in LDIF, and with more modules of slapd. */
export const startSlapd = async (entries: string, more: readonly string[] = []): Promise<Slapd> => {
  const folder = mkdtempSync(join(tmpdir(), 'slapd-'));
  const { cert, key } = await ownCertificate(folder, 'localhost', () => undefined);
  const ca = readFileSync(authorityFile(folder), 'utf8');
  const config = join(folder, 'slapd.conf');
  mkdirSync(join(folder, 'db'));
  const files = {
    'ca.pem': ca,
    'cert.pem': cert,
    'key.pem': key,
    'slapd.conf': configuration(folder, more),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  execFileSync(slapd!, ['-T', 'add', '-q', '-f', config], { input: base.join('') + entries, stdio: 'pipe' });
  const [plain, tls] = [await freePort(), await freePort()];
  const urls = [`ldap://127.0.0.1:${plain}`, `ldaps://127.0.0.1:${tls}`];
  const server: ChildProcess = spawn(slapd!, ['-h', urls.join(' '), '-f', config, '-d', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  server.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const listens = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  await until(async () => {
    if (server.exitCode !== null) throw new Error(`slapd did not start:\n${output}`);
    return (await listens(plain)) && listens(tls);
  }, 'slapd');
  return {
    plain: `ldap://localhost:${plain}`,
    tls: `ldaps://localhost:${tls}`,
    ca,
    pid: server.pid!,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    change: async (work) => {
      const client = new Client({ url: `ldap://127.0.0.1:${plain}` });
      await client.bind(searcher.bindDn, searcher.bindPassword);
      await work(client).finally(() => client.unbind());
    },
    stop: async () => {
      const exit = once(server, 'exit');
      server.kill('SIGCONT');
      server.kill('SIGTERM');
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A suite with a directory of its own that has these entries. Skipped without slapd; in CI that fails. */
export const describeSlapd = (title: string, entries: () => string, suite: (directory: () => Slapd) => void): void => {
  if (isWithoutSlapd) {
    describe(title, () => {
      it('is not tested here: needs slapd (apt-get install slapd)');
    });
    return;
  }
  describe(title, () => {
    let directory: Slapd | undefined;
    before(async () => {
      directory = await startSlapd(entries());
    });
    after(async () => {
      await directory?.stop();
    });
    suite(() => directory!);
  });
};
