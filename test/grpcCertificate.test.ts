import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownCertificate } from '../src/store/grpc/certificate.ts';
import { expired } from './certificates.ts';

describe('the certificate of the log\'s own', () => {
  let folder: string;
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'certificate-')); });
  afterEach(() => rm(folder, { recursive: true }));

  it('is made once and kept, for localhost, for ten years, for its owner only', async () => {
    const made = await ownCertificate(folder);
    assert.deepEqual(await ownCertificate(folder), made);
    const { subjectAltName, validTo } = new X509Certificate(made.cert);
    assert.match(subjectAltName!, /DNS:localhost.*IP Address:127\.0\.0\.1.*IP Address:0:0:0:0:0:0:0:1/);
    assert.ok(new Date(validTo).getFullYear() - new Date().getFullYear() === 10);
    for (const [file, text] of [['esdb-certificate.pem', made.cert], ['esdb-key.pem', made.key]] as const) {
      assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600);
      assert.equal(await readFile(join(folder, file), 'utf8'), text);
    }
  });
  it('is made anew when it has expired, or does not go with its key', async () => {
    const first = await ownCertificate(folder);
    await writeFile(join(folder, 'esdb-certificate.pem'), expired);
    const second = await ownCertificate(folder);
    assert.notEqual(second.key, first.key);
    await writeFile(join(folder, 'esdb-key.pem'), first.key);
    const third = await ownCertificate(folder);
    assert.notEqual(third.cert, second.cert);
    assert.deepEqual(await ownCertificate(folder), third);
  });
  it('is an error when the files are something else', async () => {
    await ownCertificate(folder);
    await writeFile(join(folder, 'esdb-certificate.pem'), 'my notes');
    await assert.rejects(ownCertificate(folder));
    assert.equal(await readFile(join(folder, 'esdb-certificate.pem'), 'utf8'), 'my notes');
  });
});
