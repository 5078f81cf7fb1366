import { type AllStreamResolvedEvent, type Position, type ResolvedEvent, START } from '@eventstore/db-client';
import { Unreadable } from './eventstoredbErrors.ts';
import type { StoredEvent } from './port.ts';

const toNumber = (value: bigint, what: string): number => {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Unreadable(`EventStoreDB's ${what} ${value} is beyond 2^53`);
  return Number(value);
};

/** A position as the port has it: the commit position. 0 when EventStoreDB gave none. */
export const toPosition = (position: Position | undefined): number => toNumber(position?.commit ?? 0n, 'position');

/** Where reading and subscribing begin: reading gives the event at the position first, a subscription what comes after it. */
export const fromPosition = (position: number): Position | typeof START =>
  (position === 0 ? START : { commit: BigInt(position), prepare: BigInt(position) });

/** The revision that the client names: a stream without events is at -1. */
export const toRevision = (revision: bigint | string | undefined): number => (typeof revision === 'bigint' ? toNumber(revision, 'revision') : -1);

/** The text of what the client parsed; bytes that are no JSON become the text of their base64. */
const toText = (value: unknown): string => JSON.stringify(value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value);

/** The event that was stored, its texts as they were; undefined for a link to one that is gone. */
export const toStoredEvent = ({ event }: ResolvedEvent | AllStreamResolvedEvent): StoredEvent | undefined => {
  if (!event) return undefined;
  const { id, type, data, metadata, streamId, revision } = event;
  const position = toPosition(event.position);
  // Without a position the client gives 0, where at most an event of EventStoreDB's own can be.
  if (position === 0 && !type.startsWith('$')) throw new Unreadable('EventStoreDB gives no positions with the events of a stream: version 22.10 or later is needed');
  return { id, type, data: toText(data), metadata: metadata === undefined ? '{}' : toText(metadata), stream: streamId, revision: toNumber(revision, 'revision'), position };
};
