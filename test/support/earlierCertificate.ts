import { generate } from 'selfsigned';
import type { Pair } from '../../src/secrets/certificate.ts';

const year = 365 * 24 * 3600_000;

/** The certificate that earlier versions made for the served log: authority and server in one. */
export const authorityAndServerInOne = async (validFor = 10 * year): Promise<Pair> => {
  const made = await generate([{ name: 'commonName', value: 'automation-platform' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - year),
    notAfterDate: new Date(Date.now() + validFor),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { cert: made.cert, key: made.private };
};
