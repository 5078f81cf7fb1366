import { type Static, Type } from 'typebox';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { naturalKey } from '../engine/percentEncoding.ts';
import { RequestError } from '../engine/requestError.ts';
import { name, nameOrNone } from '../engine/schemas.ts';
import { nothing, text, topicsOf } from '../engine/topics.ts';

/** The body of `addCertificate`. */
export const newCertificateSchema = Type.Object(
  {
    raw_certificate: Type.String({
      description: 'PEM of one certificate, or of a chain: each one issued by the next',
      minLength: 1,
      maxLength: 65_536,
    }),
    contract_id: Type.Optional(nameOrNone('Contract that the gateway belongs to; empty: none')),
    alias: Type.Optional(name('Name of the certificate within its contract; its SHA-256 fingerprint if absent')),
  },
  { additionalProperties: false, title: 'NewCertificate', description: 'New certificate of a gateway' },
);

export type NewCertificate = Static<typeof newCertificateSchema>;

/** The facts in a certificate. Names are written as in RFC 4514, times in UTC, ISO 8601. */
const facts = {
  subject: text,
  issuer: text,
  serialNumber: text,
  fingerprint256: text,
  validFrom: text,
  validTo: text,
};

/** A certificate and its issuers. Each one is issued by the next. */
const chain = Type.Array(Type.Object({ ...facts, pem: text }));
export type Chain = SchemaData<typeof chain>;
export type CertificateFacts = Omit<Chain[number], 'pem'>;

const topics = topicsOf({
  certificateAdded: [
    'A gateway got a certificate',
    Type.Object({
      alias: text,
      contractId: text,
      chain: Type.Array(
        Type.Object({
          subject: text,
          issuer: text,
          serialNumber: text,
          fingerprint256: text,
          validFrom: text,
          validTo: text,
          pem: text,
        }),
      ),
    }),
  ],
  certificateDeleted: ['A certificate was deleted', nothing],
});
export type CertificateEvent = EventOf<typeof topics>;

type State = { readonly exists: boolean; readonly chain: Chain };

export const certificate = aggregate<State, CertificateEvent>({
  area: 'gateway-manager',
  category: 'certificate',
  topics,
  initial: { exists: false, chain: [] },
  evolve: {
    certificateAdded: (_, { chain }) => ({ exists: true, chain }),
    certificateDeleted: () => ({ exists: false, chain: [] }),
  },
});

/** The natural key: contract and alias. */
export const certificateId = (contractId: string, alias: string): string => naturalKey(contractId, alias);

/** How messages name a certificate of a chain. */
export const nameOf = (at: number, chain: readonly unknown[]): string =>
  chain.length === 1 ? 'The certificate' : `Certificate ${at + 1} of ${chain.length}`;

/**
 * Each certificate must be valid now. The same chain again is no change. Another chain under the alias is a conflict.
 */
export const add = (
  state: State,
  { contract_id: contractId = '', alias }: NewCertificate,
  { now, refs: chain }: Context<Chain>,
): readonly CertificateEvent[] => {
  for (const [at, { validFrom, validTo }] of chain.entries()) {
    const which = nameOf(at, chain);
    if (now > validTo)
      throw new RequestError('invalid', `${which} has expired: it was valid until ${validTo}`, {
        path: '/raw_certificate',
      });
    if (now < validFrom)
      throw new RequestError('invalid', `${which} is not valid before ${validFrom}`, { path: '/raw_certificate' });
  }
  if (!state.exists)
    // A chain has at least one certificate.
    return [{ topic: 'certificateAdded', data: { alias: alias ?? chain[0]!.fingerprint256, contractId, chain } }];
  if (!same(state.chain, chain))
    throw new RequestError(
      'conflict',
      'The contract has another certificate, or another chain of it, under this alias',
      {
        path: '/alias',
      },
    );
  return [];
};

export const remove = (): readonly CertificateEvent[] => [{ topic: 'certificateDeleted', data: {} }];
