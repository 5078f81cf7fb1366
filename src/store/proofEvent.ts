import { digestStream, type WriteProof } from '@automation-platform/log-proof';
import { platform } from '../domain/engine/core.ts';
import { encode } from './event.ts';

const source = '@platform/log';

/** Writes an event of the stream of signatures. */
export const proofEvent: WriteProof = ({ topic, data }, { revision, previous, id, at }) => {
  const { id: account, username, provenance } = platform;
  return encode(
    { stream: digestStream, revision, id, source },
    { topic, data },
    {
      $correlationId: id,
      $causationId: id,
      at,
      actor: { id: account, username, provenance },
      operation: 'signLog',
      requestId: id,
      schemaVersion: 1,
    },
    previous,
  );
};
