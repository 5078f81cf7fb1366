import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** A certificate and its private key, PEM. */
export type Pair = { readonly cert: string; readonly key: string };

/** Addresses to listen on that stand for all of this machine's. */
export const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const years = 10;

/**
 * A certificate of this service's own, its own authority, in `esdb-certificate.pem` of a folder (the key in `esdb-key.pem`,
 * mode 0600): made when it is not there, then kept, since clients name it as the one they trust. It is for loopback, this
 * machine's name and the host that is listened on. An Error says so when the one that is there is of no use.
 */
export const ownCertificate = async (folder: string, host = 'localhost'): Promise<Pair> => {
  const [certFile, keyFile] = [join(folder, 'esdb-certificate.pem'), join(folder, 'esdb-key.pem')];
  if (!existsSync(certFile)) {
    const { cert, key } = await make(host);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // The certificate comes last: where it is, its key is.
    keep(keyFile, key, 0o600);
    keep(certFile, cert, 0o644);
  }
  const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  const fault = faultOf(pair, host);
  if (fault) throw new Error(`${certFile} ${fault}; remove it, and a new one is made, which clients have to be given`);
  return pair;
};

const keep = (file: string, text: string, mode: number): void => {
  writeFileSync(`${file}.new`, text, { mode, flush: true });
  renameSync(`${file}.new`, file);
};

const make = async (host: string): Promise<Pair> => {
  // Seldom needed, and slow to load.
  const { generate } = await import('selfsigned');
  const notBeforeDate = new Date(Date.now() - 24 * 3600_000);
  const notAfterDate = new Date(notBeforeDate);
  notAfterDate.setUTCFullYear(notAfterDate.getUTCFullYear() + years);
  const names = [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...(everywhere.has(host) ? [] : [host])])];
  const made = await generate([{ name: 'commonName', value: 'automation-platform' }], {
    keyType: 'ec', algorithm: 'sha256', notBeforeDate, notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name })) },
    ],
  });
  return { cert: made.cert, key: made.private };
};

const faultOf = ({ cert, key }: Pair, host: string): string | undefined => {
  try {
    const known = new X509Certificate(cert);
    if (!known.checkPrivateKey(createPrivateKey(key))) return 'does not belong to esdb-key.pem';
    if (new Date(known.validTo).getTime() < Date.now()) return `has expired: ${known.validTo}`;
    if (!everywhere.has(host) && !(isIP(host) ? known.checkIP(host) : known.checkHost(host))) return `is not for ${host}`;
    return undefined;
  } catch {
    return 'or esdb-key.pem cannot be read';
  }
};
