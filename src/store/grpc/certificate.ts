import { createPublicKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** PEM texts. */
export type Certificate = { readonly cert: string; readonly key: string };

const years = 10;

const make = async (): Promise<Certificate> => {
  const notBeforeDate = new Date();
  const notAfterDate = new Date(notBeforeDate);
  notAfterDate.setFullYear(notAfterDate.getFullYear() + years);
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec', curve: 'P-256', algorithm: 'sha256', notBeforeDate, notAfterDate,
    extensions: [
      // Clients are given the certificate itself to trust.
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }, { type: 7, ip: '127.0.0.1' }, { type: 7, ip: '::1' }] },
    ],
  });
  return { cert, key };
};

const readOrNothing = (file: string): Promise<string> => readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return '';
  throw error;
});

/** Whether the two belong together and hold today. */
const holds = ({ cert, key }: Certificate): boolean => {
  if (cert === '' || key === '') return false;
  const { validTo, publicKey } = new X509Certificate(cert);
  return new Date(validTo) > new Date() && createPublicKey(key).equals(publicKey);
};

/** Puts a text where another may be, at once and readable by the owner alone. */
const replace = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
};

/**
 * The certificate for localhost that is kept in a folder as `esdb-certificate.pem` and `esdb-key.pem` (0600): signed by its
 * own key, valid for ten years, made when it is missing, expired or has lost its key.
 */
export const ownCertificate = async (folder: string): Promise<Certificate> => {
  const [certFile, keyFile] = [join(folder, 'esdb-certificate.pem'), join(folder, 'esdb-key.pem')];
  const kept = { cert: await readOrNothing(certFile), key: await readOrNothing(keyFile) };
  if (holds(kept)) return kept;
  const made = await make();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replace(keyFile, made.key);
  await replace(certFile, made.cert);
  return made;
};
