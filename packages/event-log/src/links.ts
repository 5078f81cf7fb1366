import { hash } from 'node:crypto';
import type { NewEvent, StoredEvent } from './events.ts';

// For each hash, Node would copy the text into new memory. Short texts use this one buffer instead.
const bytes = Buffer.allocUnsafe(16 * 1024);
const mostUnits = Math.floor(bytes.length / 3);

const sha256 = (text: string): string => {
  const isShort = text.length <= mostUnits;
  return hash('sha256', isShort ? bytes.subarray(0, bytes.write(text)) : text, 'base64');
};

type Linked = Pick<NewEvent, 'id' | 'type' | 'data' | 'metadata'> & {
  readonly stream: string;
  readonly revision: number;
};

/** SHA-256 in base64 over stream, revision, event id, type, the predecessor's hash, data and metadata. */
export const link = ({ stream, revision, id, type, data, metadata }: Linked, previous: string): string =>
  sha256(`${stream}\n${revision}\n${id}\n${type}\n${previous}\n${data}\n${metadata}`);

const open = ',"hash":"';
const close = '"}';
const hashLength = 44;

/** How many characters of the metadata belong to the link, besides a brace. */
const linkLength = open.length + hashLength + close.length;

/** Metadata, which have a member, with a hash at their end. */
export const withHash = (metadata: string, hash: string): string => `${metadata.slice(0, -1)}${open}${hash}${close}`;

/** Metadata without the hash at their end: the link is over these. */
export const withoutHash = (metadata: string): string => `${metadata.slice(0, -linkLength)}}`;

/** True if metadata have something like a hash anywhere. */
export const mentionsHash = (metadata: string): boolean => metadata.includes(open);

/** The text at the place where metadata have their hash, whether or not the frame around it is right. */
export const claimedHash = (metadata: string): string => metadata.slice(-hashLength - close.length, -close.length);

/**
 * The hash at the end of an event's metadata. Undefined for events without a link: foreign events, parts of payloads,
 * and the log's own events. Those have a sum.
 */
export const hashIn = (metadata: string): string | undefined => {
  const at = metadata.length - linkLength;
  const linked = metadata.startsWith(open, at) && metadata.endsWith(close);
  return linked ? metadata.slice(at + open.length, -close.length) : undefined;
};

type Content = Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'type' | 'data' | 'metadata'>;

/** SHA-256 over an event as its row has it. */
export const sumOf = (event: Content): string => link(event, '');

/** A hash that tells an event from any other at its place: its link, or its sum if it has no link. */
export const hashOf = (event: Content): string => hashIn(event.metadata) ?? sumOf(event);
