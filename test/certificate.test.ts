import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { ownCertificate } from '../src/store/grpc/certificate.ts';
import { temporaryFolder } from './process.ts';

describe('the certificate of the service itself', () => {
  let folder: string;
  beforeEach(() => { folder = temporaryFolder(); });
  afterEach(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, 'data', name);
  const own = (host = '127.0.0.1') => ownCertificate(join(folder, 'data'), host);

  it('is all that a client has to trust, by any name of loopback', async () => {
    const pair = await own();
    const server = createServer(pair, (socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      for (const servername of ['localhost', '127.0.0.1', '::1']) {
        const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ca: readFileSync(file('esdb-certificate.pem')), checkServerIdentity: (_, { raw }) => {
          const certificate = new X509Certificate(raw);
          return certificate.checkHost(servername) ?? certificate.checkIP(servername) ? undefined : new Error(servername);
        } });
        const [text] = await once(socket, 'data');
        assert.equal(String(text), 'hello');
        socket.destroy();
      }
      const stranger = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
      const [error] = await once(stranger, 'error');
      assert.match((error as { code: string }).code, /SELF_SIGNED/);
    } finally {
      server.close();
    }
  });
  it('is made once, its key for its owner alone', async () => {
    const first = await own();
    assert.deepEqual(await own(), first);
    assert.deepEqual(readdirSync(join(folder, 'data')).sort(), ['esdb-certificate.pem', 'esdb-key.pem']);
    assert.equal(statSync(file('esdb-key.pem')).mode & 0o777, 0o600);
    const { validFrom, validTo, ca } = new X509Certificate(first.cert);
    assert.ok(ca && new Date(validFrom) < new Date() && new Date(validTo) > new Date(Date.now() + 9 * 365 * 24 * 3600_000));
  });
  it('is for the host that is served, by name or address', async () => {
    for (const host of ['log.example.net', '192.0.2.7', '2001:db8::7']) {
      rmSync(join(folder, 'data'), { recursive: true, force: true });
      const { cert } = await own(host);
      const certificate = new X509Certificate(cert);
      assert.ok(certificate.checkHost(host) ?? certificate.checkIP(host), host);
      assert.ok(certificate.checkHost('localhost'));
      assert.deepEqual(await own('0.0.0.0'), await own(host));
    }
  });
  it('is not replaced behind the back of those who trust it: what is wrong with it is said', async () => {
    const { key } = await own();
    await assert.rejects(own('log.example.net'), /esdb-certificate\.pem is not for log\.example\.net; remove it/);
    rmSync(file('esdb-certificate.pem'));
    const { cert } = await own();
    writeFileSync(file('esdb-key.pem'), key);
    await assert.rejects(own(), /does not belong to esdb-key\.pem/);
    rmSync(file('esdb-key.pem'));
    writeFileSync(file('esdb-key.pem'), cert);
    await assert.rejects(own(), /cannot be read/);
  });
});
