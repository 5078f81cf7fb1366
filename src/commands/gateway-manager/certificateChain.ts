import { X509Certificate } from 'node:crypto';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type Chain, nameOf } from '../../domain/gateway-manager/certificates.ts';

const mostCertificates = 10;

const block = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

// The message must never quote the input: it may be a secret.
const invalid = (message: string): RequestError => new RequestError('invalid', message, { path: '/raw_certificate' });

/** True if the text contains a private key in PEM, of any kind. */
export const hasPrivateKey = (text: string): boolean => /PRIVATE\s+KEY/i.test(text);

/**
 * The certificates in a PEM text. Between them only white space is allowed. Throws `invalid` and names the first
 * certificate that is malformed, or that the next one has not issued and signed.
 */
export const chainOf = (text: string): Chain => {
  if (hasPrivateKey(text))
    throw invalid(
      'There is a private key in it. It has not been kept; since it has left its place, it should be replaced',
    );
  const blocks = Array.from(text.matchAll(block), ([, base64 = '']) => base64.replace(/\s/g, ''));
  if (blocks.length === 0) throw invalid('It has no PEM certificate in it (-----BEGIN CERTIFICATE-----)');
  if (text.replace(block, '').trim() !== '') throw invalid('It has something else in it than PEM certificates');
  if (blocks.length > mostCertificates)
    throw invalid(`A chain may have ${mostCertificates} certificates, this one has ${blocks.length}`);
  const parsed = blocks.map((base64, at) => parse(base64, nameOf(at, blocks)));
  for (const [at, { one }] of parsed.entries()) {
    const next = parsed[at + 1];
    if (next && !isIssuedBy(one, next.one)) throw invalid(`${nameOf(at, blocks)} is not issued by the one after it`);
  }
  return parsed.map(({ facts }) => facts);
};

const parse = (base64: string, which: string): { readonly one: X509Certificate; readonly facts: Chain[number] } => {
  try {
    const der = Buffer.from(base64, 'base64');
    const one = new X509Certificate(der);
    // The decoder and the parser both ignore bytes after the end.
    if (der.toString('base64') !== base64 || !one.raw.equals(der))
      throw invalid(`${which} has something after its end`);
    const iso = (date: string) => new Date(date).toISOString();
    return {
      one,
      facts: {
        subject: inOneLine(one.subject),
        issuer: inOneLine(one.issuer),
        serialNumber: one.serialNumber,
        fingerprint256: one.fingerprint256,
        validFrom: iso(one.validFrom),
        validTo: iso(one.validTo),
        pem: one.toString(),
      },
    };
  } catch (error) {
    throw error instanceof RequestError ? error : invalid(`${which} cannot be read`);
  }
};

/** Node puts each part of a name on its own line, and returns undefined for an empty name. */
const inOneLine = (name: string | undefined): string => (name ?? '').replaceAll('\n', ', ');

const isIssuedBy = (one: X509Certificate, issuer: X509Certificate): boolean => {
  try {
    return issuer.ca && !one.raw.equals(issuer.raw) && one.checkIssued(issuer) && one.verify(issuer.publicKey);
  } catch {
    return false;
  }
};
