import { type CertificateFacts, certificate } from '../../domain/gateway-manager/certificates.ts';
import { projection } from '../engine/define.ts';

export type Certificate = { readonly alias: string; readonly contractId: string } & CertificateFacts;

/** Certificates of gateways by alias. A document describes the first certificate of its chain. */
export const certificates = projection<Certificate>()(certificate, {
  collection: 'certificates',
  on: {
    certificateAdded: (_, { data: { alias, contractId, chain } }) => {
      const [first] = chain;
      if (!first) throw new Error('The chain has no certificate');
      const { pem: _pem, ...facts } = first;
      return { alias, contractId, ...facts };
    },
    certificateDeleted: () => undefined,
  },
  sorts: { alias: (doc) => doc.alias, validTo: (doc) => doc.validTo },
  filters: {
    alias: (doc) => doc.alias,
    name: (doc) => doc.alias,
    contractId: (doc) => doc.contractId,
    subject: (doc) => doc.subject,
    issuer: (doc) => doc.issuer,
    serialNumber: (doc) => doc.serialNumber,
    fingerprint256: (doc) => doc.fingerprint256,
  },
});
