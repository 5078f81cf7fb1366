import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Log } from '@automation-platform/concurrency';
import { makeFolder } from '../store/folders.ts';

/** The addresses that stand for all addresses of this machine. */
export const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** The file that clients get: the certificate of the authority to trust. */
export const authorityFile = (folder: string): string => join(folder, 'esdb-authority.pem');

/**
 * Returns the server's certificate and its key as PEM, from a folder. This service's own authority issues the
 * certificate. The authority is in the same folder. It is made once and kept, because clients get its certificate. The
 * server's certificate is issued again when clients cannot use it: it is expired, comes from another authority, or
 * lacks a name by which clients reach this machine.
 */
export const ownCertificate = async (folder: string, host: string, log: Log): Promise<Pair> => {
  const authority = { cert: authorityFile(folder), key: join(folder, 'esdb-authority-key.pem') };
  const server = { cert: join(folder, 'esdb-certificate.pem'), key: join(folder, 'esdb-key.pem') };
  makeFolder(folder);
  checkOurs(server.cert);
  if (!existsSync(authority.cert))
    keep(authority, adopted(texts(server), authority.cert, log) ?? (await makeAuthority()));

  const names = [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...(everywhere.has(host) ? [] : [host])])];
  const storedPair = texts(server);
  if (serves(storedPair, readFileSync(authority.cert, 'utf8'), names)) return storedPair;
  const issuer = texts(authority);
  const fault = faultOf(issuer);
  if (fault)
    throw new Error(`${authority.cert} ${fault}; remove it, and a new one is made, which clients have to be given`);
  keep(server, await issueServer(issuer, names));
  return texts(server);
};

/** Throws when the file has a certificate that this service did not make. Such a file is never replaced. */
const checkOurs = (file: string): void => {
  if (!existsSync(file)) return;
  const certificate = certificateIn(readFileSync(file, 'utf8'));
  if (certificate?.subject.startsWith(ourName)) return;
  throw new Error(`${file} was not made by this service; name it with TLS_CERT_FILE, or remove it`);
};

/**
 * Earlier versions had one certificate as authority and server. Clients trust it, so it becomes the authority.
 * Undefined when there is none, or when it cannot be used.
 */
const adopted = (earlier: Pair, authority: string, log: Log): Pair | undefined => {
  if (earlier.cert === '') return undefined;
  if (!certificateIn(earlier.cert)?.ca || faultOf(earlier)) {
    log('A new authority is made for the certificate of the log: clients have to be given its file', { authority });
    return undefined;
  }
  log(
    'The certificate of the log was authority and server in one, which some clients refuse. It is the authority alone now, ' +
      'and issues another one for the server. Who trusts it needs nothing new; others are given its file',
    { authority },
  );
  return earlier;
};

/** Writes a pair of files. The certificate is written last, so that there is never a certificate without its key. */
const keep = (files: Pair, { cert, key }: Pair): void => {
  for (const [file, text, mode] of [
    [files.key, key, 0o600],
    [files.cert, cert, 0o644],
  ] as const) {
    writeFileSync(`${file}.new`, text, { mode, flush: true });
    renameSync(`${file}.new`, file);
  }
};

const textIn = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

const texts = ({ cert, key }: Pair): Pair => ({ cert: textIn(cert), key: textIn(key) });

/** The first certificate of a PEM text. */
const certificateIn = (text: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
};

const isOver = ({ validTo }: X509Certificate): boolean => new Date(validTo).getTime() < Date.now();

/** Why a certificate and its key cannot be used; undefined when they can. */
const faultOf = ({ cert, key }: Pair): string | undefined => {
  const certificate = certificateIn(cert);
  if (!certificate) return 'cannot be read';
  if (isOver(certificate)) return `has expired: ${certificate.validTo}`;
  try {
    return certificate.checkPrivateKey(createPrivateKey(key)) ? undefined : 'does not belong to its key';
  } catch {
    return 'has no key that can be read';
  }
};

/** True if clients that trust the authority accept the certificate under each of the names. */
const serves = (pair: Pair, authorityText: string, names: readonly string[]): boolean => {
  const [certificate, authority] = [certificateIn(pair.cert), certificateIn(authorityText)];
  if (!certificate || !authority || faultOf(pair) || certificate.ca || isOver(authority)) return false;
  return (
    certificate.checkIssued(authority) &&
    certificate.verify(authority.publicKey) &&
    names.every((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined)
  );
};

/** A certificate and its private key, PEM. */
export type Pair = { readonly cert: string; readonly key: string };

/** The beginning of the subject of every certificate that is made here. */
const ourName = 'CN=automation-platform';

const years = 10;

/** Validity begins long ago, and ends late, because the clock of this machine may be wrong today. */
const validity = () => {
  const notBeforeDate = new Date('2025-01-01');
  const notAfterDate = new Date(Math.max(Date.now(), notBeforeDate.getTime()));
  notAfterDate.setUTCFullYear(notAfterDate.getUTCFullYear() + years);
  return { notBeforeDate, notAfterDate };
};

const common = { keyType: 'ec', algorithm: 'sha256' } as const;

const named = (what: string) => [{ name: 'commonName', value: `automation-platform ${what}` }];

/** Makes an authority, which signs its own certificate. */
const makeAuthority = async (): Promise<Pair> => {
  // Seldom needed, and slow to load.
  const { generate } = await import('selfsigned');
  const generatedAuthority = await generate(named('authority'), {
    ...common,
    ...validity(),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: generatedAuthority.cert, key: generatedAuthority.private };
};

/**
 * Makes a certificate of a server for names and addresses. The certificate of its authority follows in the same text.
 */
const issueServer = async (authority: Pair, names: readonly string[]): Promise<Pair> => {
  const { generate } = await import('selfsigned');
  const generatedCertificate = await generate(named('log'), {
    ...common,
    ...validity(),
    ca: authority,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name })),
      },
    ],
  });
  return { cert: `${generatedCertificate.cert.trimEnd()}\n${authority.cert}`, key: generatedCertificate.private };
};
