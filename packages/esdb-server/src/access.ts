import { type Metadata, status } from '@grpc/grpc-js';
import { Fault } from './faults.ts';

/**
 * The permissions of this protocol: to read the log, to write the platform's own streams as another of its nodes, and
 * to write all other streams.
 */
export type Method = 'readLog' | 'writeLog' | 'writeStreams';

/** True if a caller has a permission. */
export type May = (method: Method) => boolean;

/**
 * Returns the present rights of a caller. It is called before each action, because rights change. Rejects when the
 * caller may no longer log in.
 */
export type Rights = () => May | Promise<May>;

/** A caller: its account, and its rights. */
export type Caller = { readonly account: string; readonly rights: Rights };

/** Identifies the caller. Rejects with `RequestError`: `unauthenticated`, `limited` or `unavailable`. */
export type Authorize = (authorization: string, address: string) => Promise<Caller>;

/** The parts of a call that identify its caller. */
export type Call = { readonly metadata: Metadata; getPeer(): string };

const addressOf = (peer: string): string =>
  peer
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:(?=.*\.)/, '');

/** Identifies the caller of a call. Without HTTP Basic it throws, and does not call `authorize`. */
export const callerOf = async (call: Call, authorize: Authorize): Promise<Caller> => {
  const [authorization] = call.metadata.get('authorization');
  if (typeof authorization !== 'string' || !/^basic /i.test(authorization))
    throw new Fault(status.UNAUTHENTICATED, 'Authentication is needed: user name and password');
  return authorize(authorization, addressOf(call.getPeer()));
};
