import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** Paths of PEM files: a certificate chain, and the private key of its first certificate. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string };

const read = <T>(name: string, file: string, parse: (pem: string) => T, what: string): T => {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${name} names a file that cannot be read: ${file}`, { cause });
  }
  try {
    return parse(pem);
  } catch (cause) {
    throw new Error(`${name} names a file that is no ${what}: ${file}`, { cause });
  }
};

/** Throws an Error if HTTPS cannot be served with these files. Its message begins with the setting's name. */
export const checkTlsFiles = ({ certFile, keyFile }: TlsFiles): void => {
  const certificate = read('TLS_CERT_FILE', certFile, (pem) => new X509Certificate(pem), 'PEM certificate');
  const key = read(
    'TLS_KEY_FILE',
    keyFile,
    (pem): KeyObject => createPrivateKey(pem),
    'PEM private key without a passphrase',
  );
  if (!certificate.checkPrivateKey(key))
    throw new Error(`TLS_KEY_FILE is not the key of TLS_CERT_FILE: ${keyFile}, ${certFile}`);
  // Only this call reads the rest of the chain.
  read(
    'TLS_CERT_FILE',
    certFile,
    (cert) => createSecureContext({ cert, key: readFileSync(keyFile) }),
    'PEM certificate chain',
  );
};
