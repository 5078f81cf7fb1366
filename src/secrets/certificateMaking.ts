import { isIP } from 'node:net';

/** A certificate and its private key, PEM. */
export type Pair = { readonly cert: string; readonly key: string };

/** The beginning of the subject of every certificate that is made here. */
export const ourName = 'CN=automation-platform';

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
export const makeAuthority = async (): Promise<Pair> => {
  // Seldom needed, and slow to load.
  const { generate } = await import('selfsigned');
  const made = await generate(named('authority'), {
    ...common,
    ...validity(),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
};

/**
 * Makes a certificate of a server for names and addresses. The certificate of its authority follows in the same text.
 */
export const issueServer = async (authority: Pair, names: readonly string[]): Promise<Pair> => {
  const { generate } = await import('selfsigned');
  const made = await generate(named('log'), {
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
  return { cert: `${made.cert.trimEnd()}\n${authority.cert}`, key: made.private };
};
