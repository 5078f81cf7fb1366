import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { Unreadable } from './eventstoredbErrors.ts';
import type { Filter, StoredEvent } from './port.ts';

export type Record = ReadResp.ReadEvent.RecordedEvent;

const own = '@';

const toNumber = (value: string | undefined, what: string, exact: boolean): number => {
  const number = Number(value ?? 0);
  if (exact && !Number.isSafeInteger(number)) throw new Unreadable(`EventStoreDB's ${what} ${value} is beyond 2^53`);
  return number;
};

/** A position as the port has it: the commit position. */
export const toPosition = (commit: string): number => toNumber(commit, 'position', true);

/** The revision that an answer names. */
export const toRevision = (revision: string): number => toNumber(revision, 'revision', true);

/** The text as every client shows it; bytes that are no JSON become the text of their base64. */
const toText = (bytes: Uint8Array, isJson: boolean): string => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isJson) return JSON.stringify(buffer.toString('base64'));
  const text = buffer.toString();
  try { return JSON.stringify(JSON.parse(text)); } catch { return JSON.stringify(text); }
};

const plain = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

const isJsonText = (bytes: Uint8Array): boolean => {
  try { JSON.parse(plain(bytes)); return true; } catch { return false; }
};

export const contentTypeOf = (record: Record): string => record.getMetadataMap().get('content-type') ?? 'application/octet-stream';

export const streamOf = (record: Record): string => plain(record.getStreamIdentifier()!.getStreamName_asU8());
export const typeOf = (record: Record): string => record.getMetadataMap().get('type') ?? '';

/** The event in an answer; undefined in one that has none, or a link to one that is gone. */
export const recordIn = (answer: ReadResp): Record | undefined => answer.getEvent()?.getEvent();

/**
 * Whether an event is one that readers of the whole log see. Without a filter none of the server's own is, by type or by
 * stream; with one its types are those that it names.
 */
export const passes = (record: Record, filter: Filter | undefined): boolean => {
  const type = typeOf(record);
  if (filter && !filter.some((prefix) => type.startsWith(prefix))) return false;
  return type.startsWith('$') ? filter !== undefined : !streamOf(record).startsWith('$');
};

/** Whether an event's numbers are exact here. Those of strangers that are not are passed over: nothing of ours can need them. */
export const isCountable = (record: Record): boolean =>
  typeOf(record).startsWith(own) || [record.getStreamRevision(), record.getCommitPosition()].every((text) => Number.isSafeInteger(Number(text)));

/** The event that was stored. Numbers of the server's own events may be beyond what is exact. */
export const toStoredEvent = (record: Record): StoredEvent => {
  const [type, stream] = [typeOf(record), streamOf(record)];
  const exact = !type.startsWith('$');
  const position = toNumber(record.getCommitPosition(), 'position', exact);
  // Without a position there is 0, where at most an event of EventStoreDB's own can be.
  if (position === 0 && exact) throw new Unreadable('EventStoreDB gives no positions with the events of a stream: version 22.10 or later is needed');
  const [data, metadata] = [record.getData_asU8(), record.getCustomMetadata_asU8()];
  const isJson = contentTypeOf(record) === 'application/json';
  // Ours are texts as we wrote them. One that somebody else has spoilt is told from them by who reads it.
  const text = type.startsWith(own) && isJson ? plain(data) : toText(data, isJson);
  return {
    id: parseUUID(record.getId()) as string, type, data: text, metadata: metadata.length === 0 ? '{}' : type.startsWith(own) ? plain(metadata) : toText(metadata, isJsonText(metadata)),
    stream, revision: toNumber(record.getStreamRevision(), 'revision', exact), position,
  };
};
