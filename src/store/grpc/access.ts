import { type Metadata, status } from '@grpc/grpc-js';
import { Fault } from './faults.ts';

/**
 * The permissions of this protocol: reading, writing the platform's own streams as another of its nodes, writing all
 * others.
 */
export type Method = 'readLog' | 'writeLog' | 'writeStreams';

/** The rights of a caller. */
export type May = (method: Method) => boolean;

/** The rights of a caller at this moment. Asked as often as needed. Rejects when the caller may not even log in. */
export type Rights = () => May | Promise<May>;

/** Identifies the caller. Rejects with `RequestError`: `unauthenticated`, `limited` or `unavailable`. */
export type Authorize = (authorization: string, address: string) => Promise<Rights>;

/** The parts of a call that identify its caller. */
export type Call = { readonly metadata: Metadata; getPeer(): string };

const addressOf = (peer: string): string =>
  peer
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:(?=.*\.)/, '');

/** The rights of the caller of a call. Without HTTP Basic nobody is asked. */
export const rightsOf = async (call: Call, authorize: Authorize): Promise<Rights> => {
  const [authorization] = call.metadata.get('authorization');
  if (typeof authorization !== 'string' || !/^basic /i.test(authorization))
    throw new Fault(status.UNAUTHENTICATED, 'Authentication is needed: user name and password');
  return authorize(authorization, addressOf(call.getPeer()));
};
