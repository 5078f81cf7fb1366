import type { Told } from './eventstoredbAnswer.ts';
import { Unreadable } from './eventstoredbErrors.ts';
import type { Filter, StoredEvent } from './port.ts';

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

/** The text as every client shows it. Bytes that are no JSON become the text of their base64. */
const toText = (bytes: Buffer, isJson: boolean): string => {
  if (!isJson) return JSON.stringify(bytes.toString('base64'));
  const text = bytes.toString();
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
};

const isJsonText = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * Whether an event is one that readers of the whole log see. Without a filter none of the server's own is, by type or
 * by stream; with one its types are those that it names.
 */
export const passes = ({ type, stream }: Told, filter: Filter | undefined): boolean => {
  if (filter && !filter.some((prefix) => type.startsWith(prefix))) return false;
  return type.startsWith('$') ? filter !== undefined : !stream.startsWith('$');
};

/**
 * Whether an event's numbers are exact here. Those of strangers that are not are passed over: nothing of ours can need
 * them.
 */
export const isCountable = ({ type, revision, position }: Told): boolean =>
  type.startsWith(own) || [revision, position].every((text) => Number.isSafeInteger(Number(text)));

const toMetadata = (bytes: Buffer, isOwn: boolean): string => {
  if (bytes.length === 0) return '{}';
  const text = bytes.toString();
  return isOwn ? text : toText(bytes, isJsonText(text));
};

/** The stored event. Numbers of the server's own events may be too large to be exact. */
export const toStoredEvent = ({
  id,
  type,
  stream,
  revision,
  position,
  contentType,
  data,
  metadata,
}: Told): StoredEvent => {
  const exact = !type.startsWith('$');
  const at = toNumber(position, 'position', exact);
  // Without a position there is 0, where at most an event of EventStoreDB's own can be.
  if (at === 0 && exact)
    throw new Unreadable(
      'EventStoreDB gives no positions with the events of a stream: version 22.10 or later is needed',
    );
  // Ours are texts as we wrote them. One that somebody else has spoilt is told from them by who reads it.
  const isOwn = type.startsWith(own);
  const isJson = contentType === 'application/json';
  return {
    id,
    type,
    stream,
    revision: toNumber(revision, 'revision', exact),
    position: at,
    data: isOwn && isJson ? data.toString() : toText(data, isJson),
    metadata: toMetadata(metadata, isOwn),
  };
};
