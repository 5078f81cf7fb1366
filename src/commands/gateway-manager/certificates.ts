import { RequestError } from '../../domain/engine/requestError.ts';
import { add, certificate, newCertificateSchema, remove } from '../../domain/gateway-manager/certificates.ts';
import { commandsOf } from '../engine/define.ts';
import { chainOf, hasPrivateKey } from './certificateChain.ts';

const command = commandsOf(certificate);

export const addCertificate = command({
  name: 'addCertificate',
  input: newCertificateSchema,
  on: 'any',
  decide: add,
  precompute: async ({ raw_certificate, alias = '', contract_id = '' }) => {
    for (const [path, text] of Object.entries({ '/alias': alias, '/contract_id': contract_id }))
      if (hasPrivateKey(text)) throw new RequestError('invalid', 'There is a private key in it', { path });
    return chainOf(raw_certificate);
  },
  prepare: async ({ precomputed }) => precomputed,
});
export const deleteCertificate = command({
  name: 'deleteCertificate',
  on: 'existing',
  decide: remove,
});
