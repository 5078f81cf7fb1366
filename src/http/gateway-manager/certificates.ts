import { Type } from 'typebox';
import { chainOf } from '../../commands/gateway-manager/certificateChain.ts';
import { addCertificate, deleteCertificate } from '../../commands/gateway-manager/certificates.ts';
import { time } from '../../domain/engine/authors.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { certificate, certificateId, newCertificateSchema } from '../../domain/gateway-manager/certificates.ts';
import { documentsOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { certificates } from '../../projections/gateway-manager/certificates.ts';
import { withStatus } from '../engine/envelopes.ts';
import type { Envelope, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';

const text = Type.String();
const { contract_id, alias } = newCertificateSchema.properties;

const certificateSchema = Type.Object(
  {
    alias,
    contractId: text,
    subject: text,
    issuer: text,
    serialNumber: text,
    fingerprint256: text,
    validFrom: time('From when it is valid'),
    validTo: time('Until when it is valid'),
  },
  { title: 'Certificate', description: 'Certificate of a gateway' },
);

/** The id of the certificate with the alias. Without `contractId`, all contracts are searched. */
const idOf = async (model: ReadModel, alias: string, contractId: string | undefined): Promise<string> => {
  if (contractId !== undefined) return certificateId(contractId, alias);
  const ids = await model.idsNamed(certificates.collection, alias);
  if (ids.length < 2) return ids[0] ?? certificateId('', alias);
  const contracts = (await documentsOf(model, certificates, ids)).map((found) => found.contractId);
  throw new RequestError(
    'conflict',
    'Several contracts have a certificate with this alias; say which with contract_id',
    {
      path: 'contract_id',
      faults: [{ message: 'The alias is not unique', path: 'contract_id', contracts }],
    },
  );
};

const remove = actionRoute({
  name: 'deleteCertificate',
  method: 'delete',
  path: '/certificates/:alias',
  access: ['operators'],
  summary: 'Delete a certificate',
  description: 'An alias that several contracts use is a conflict unless contract_id says whose it is.',
  query: { contract_id },
  answer: changed(certificateSchema),
  run: async (call, service) => {
    const { alias: name = '' } = call.params;
    const contractId = call.query.contract_id as string | undefined;
    const about = requestOf('deleteCertificate', call, service);
    const again =
      about.idempotency &&
      (await service.retries.find({ aggregate: certificate, idOrName: name }, about.idempotency.key));
    const id = again ?? (await idOf(service.model, name, contractId));
    const result = await service.handle(deleteCertificate, { id, input: {}, calledBy: { name }, ...about });
    return {
      text: withStatus(() => 'Successfully deleted certificate')(JSON.stringify(result.before), result),
      position: result.position,
      replayed: result.replayed,
    };
  },
});

const stored: Envelope = (certificate) => `{"state":"Success","results":${certificate}}`;

/** Certificates of gateways (docs/decisions/gateways.md). */
export const certificateRoutes: readonly Route[] = [
  listRoute({
    name: 'getCertificates',
    path: '/certificates',
    access: ['operators', 'readers'],
    summary: 'List certificates',
    list: certificates,
    answer: listed(certificateSchema),
  }),
  commandRoute({
    name: 'addCertificate',
    method: 'post',
    path: '/certificates',
    access: ['operators'],
    summary: 'Add a certificate that identifies a gateway',
    description:
      'PEM of one certificate or a chain, all of them valid now. The same again is no change. A private key ' +
      'is refused, and kept nowhere.',
    command: addCertificate,
    // A chain is never empty: chainOf refuses a text without certificates.
    key: (_, { raw_certificate, contract_id = '', alias }) =>
      certificateId(contract_id, alias ?? chainOf(raw_certificate)[0]!.fingerprint256),
    envelope: stored,
    answer: Type.Object({ state: Type.Literal('Success'), results: certificateSchema }),
  }),
  remove,
];
