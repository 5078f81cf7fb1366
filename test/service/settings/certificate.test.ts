import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { generate } from 'selfsigned';
import { authorityFile, ownCertificate, type Pair } from '../../../src/secrets/certificate.ts';
import { authorityAndServerInOne } from '../../support/earlierCertificate.ts';
import { temporaryFolder } from '../../support/process.ts';

const year = 365 * 24 * 3600_000;

describe('the certificate of the service itself', () => {
  let folder: string;
  let logged: unknown[];
  beforeEach(() => {
    folder = temporaryFolder();
    logged = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const data = () => join(folder, 'data');
  const file = (name: string) => join(data(), name);
  const own = (host = '127.0.0.1') =>
    ownCertificate(data(), host, (message, about) => logged.push({ message, ...about }));
  const before = ({ cert, key }: Pair) => {
    mkdirSync(data(), { recursive: true });
    writeFileSync(file('esdb-certificate.pem'), cert);
    writeFileSync(file('esdb-key.pem'), key);
  };
  const authority = () => readFileSync(authorityFile(data()), 'utf8');

  /** What a client gets that trusts an authority and calls the server by a name. */
  const greeted = async (pair: Pair, ca: string | undefined, name = 'localhost'): Promise<string> => {
    const server = createServer(pair, (socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect({
      port,
      host: '127.0.0.1',
      ...(ca !== undefined && { ca }),
      checkServerIdentity: (_, { raw }) => {
        const certificate = new X509Certificate(raw);
        return (certificate.checkHost(name) ?? certificate.checkIP(name)) ? undefined : new Error(name);
      },
    });
    try {
      const [text] = await once(socket, 'data');
      return String(text);
    } finally {
      socket.destroy();
      server.close();
    }
  };

  it('is trusted by whoever trusts its authority, by any name of loopback', async () => {
    const pair = await own();
    for (const name of ['localhost', '127.0.0.1', '::1']) assert.equal(await greeted(pair, authority(), name), 'hello');
    await assert.rejects(greeted(pair, undefined), { code: /SELF_SIGNED/ });
  });
  it('is no authority, and its authority no server, as strict clients want it', async () => {
    const leaf = new X509Certificate((await own()).cert);
    const root = new X509Certificate(authority());
    assert.deepEqual([leaf.ca, root.ca], [false, true]);
    assert.ok(leaf.checkIssued(root) && leaf.verify(root.publicKey) && leaf.subject !== root.subject);
    assert.equal(root.subjectAltName, undefined);
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    for (const { validFrom, validTo } of [leaf, root])
      assert.ok(new Date(validFrom) < new Date() && new Date(validTo) > new Date(Date.now() + 9 * year));
  });
  it('is valid for others though the clock of this machine was wrong as it was made', async () => {
    const real = Date.now;
    for (const wrong of [real() + 31 * 86_400_000, 0]) {
      rmSync(data(), { recursive: true, force: true });
      Date.now = () => wrong;
      await own().finally(() => {
        Date.now = real;
      });
      const made = [new X509Certificate(readFileSync(file('esdb-certificate.pem'))), new X509Certificate(authority())];
      for (const { validFrom, validTo } of made)
        assert.ok(new Date(validFrom) < new Date() && new Date(validTo) > new Date(), `${validFrom} to ${validTo}`);
    }
  });
  it('is made once, keys for their owner alone', async () => {
    const first = await own();
    assert.deepEqual(await own(), first);
    assert.deepEqual(readdirSync(data()).sort(), [
      'esdb-authority-key.pem',
      'esdb-authority.pem',
      'esdb-certificate.pem',
      'esdb-key.pem',
    ]);
    for (const key of ['esdb-authority-key.pem', 'esdb-key.pem']) assert.equal(statSync(file(key)).mode & 0o777, 0o600);
    assert.deepEqual(logged, []);
  });
  it('is for the host that is served, by name or address, of the authority that clients have', async () => {
    await own();
    const known = authority();
    for (const host of ['log.example.net', '192.0.2.7', '2001:db8::7']) {
      const pair = await own(host);
      assert.equal(await greeted(pair, known, host), 'hello');
      assert.equal(await greeted(pair, known, 'localhost'), 'hello');
      assert.deepEqual(await own('0.0.0.0'), pair);
    }
    assert.equal(authority(), known);
  });
  it('is issued again when it or its key is of no use', async () => {
    const first = await own();
    for (const spoil of [
      () => writeFileSync(file('esdb-key.pem'), 'no key'),
      () => rmSync(file('esdb-key.pem')),
      () => rmSync(file('esdb-certificate.pem')),
      () => {
        rmSync(file('esdb-authority.pem'));
        rmSync(file('esdb-authority-key.pem'));
      },
    ]) {
      spoil();
      const again = await own();
      assert.notEqual(again.cert, first.cert);
      assert.equal(await greeted(again, authority()), 'hello');
    }
  });
  it('needs the key of its authority only to be issued', async () => {
    const first = await own();
    rmSync(file('esdb-authority-key.pem'));
    assert.deepEqual(await own(), first);
    await assert.rejects(
      own('log.example.net'),
      /esdb-authority\.pem has no key that can be read; remove it, and a new one is made/,
    );
  });
  it('of an authority that is of no use is not made: that is said, since clients have its file', async () => {
    await own();
    const key = readFileSync(file('esdb-authority-key.pem'));
    rmSync(file('esdb-authority.pem'));
    await own();
    writeFileSync(file('esdb-authority-key.pem'), key);
    await assert.rejects(own('log.example.net'), /esdb-authority\.pem does not belong to its key/);
    writeFileSync(file('esdb-authority.pem'), (await authorityAndServerInOne(-1000)).cert);
    await assert.rejects(own('log.example.net'), /esdb-authority\.pem has expired/);
    writeFileSync(file('esdb-authority.pem'), 'nothing');
    await assert.rejects(own(), /esdb-authority\.pem cannot be read/);
  });

  describe('that an earlier version made as authority and server in one', () => {
    it('is the authority from then on, and whoever trusts it goes on; the log says so', async () => {
      const old = await authorityAndServerInOne();
      before(old);
      const pair = await own();
      assert.equal(new X509Certificate(pair.cert).ca, false);
      assert.equal(authority(), old.cert);
      // By a copy of the file, and by the file itself in its place.
      for (const trusted of [old.cert, readFileSync(file('esdb-certificate.pem'), 'utf8')])
        assert.equal(await greeted(pair, trusted), 'hello');
      assert.equal(logged.length, 1);
      assert.match(JSON.stringify(logged), /authority and server in one.*esdb-authority\.pem/);
      assert.deepEqual(await own(), pair);
      assert.equal(logged.length, 1);
    });
    it('is replaced with its authority when it has expired', async () => {
      const old = await authorityAndServerInOne(-1000);
      before(old);
      const pair = await own();
      assert.notEqual(authority(), old.cert);
      assert.equal(await greeted(pair, authority()), 'hello');
    });
    it('is taken over also when the process ended in between', async () => {
      const old = await authorityAndServerInOne();
      before(old);
      writeFileSync(file('esdb-authority-key.pem'), old.key);
      assert.equal(await greeted(await own(), old.cert), 'hello');
      writeFileSync(file('esdb-key.pem'), (await authorityAndServerInOne()).key);
      assert.equal(await greeted(await own(), old.cert), 'hello');
    });
  });
  it("is not put in the place of another's", async () => {
    const theirs = await generate([{ name: 'commonName', value: 'log.example.net' }], {
      keyType: 'ec',
      algorithm: 'sha256',
    });
    before({ cert: theirs.cert, key: theirs.private });
    await assert.rejects(own(), /esdb-certificate\.pem was not made by this service; name it with TLS_CERT_FILE/);
    assert.deepEqual(
      [readFileSync(file('esdb-certificate.pem'), 'utf8'), readFileSync(file('esdb-key.pem'), 'utf8')],
      [theirs.cert, theirs.private],
    );
  });
});
