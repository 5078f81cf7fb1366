import { type Appended, type Batch, hashIn, type NewEvent, type StoredEvent } from '@automation-platform/event-log';
import { digestStream } from './lines.ts';

/** A log that is signed. */
export type ProofLog = {
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>;
  /** A stream's events from a revision on, some at a time. */
  read(stream: string, from?: number): AsyncIterable<readonly StoredEvent[]>;
  /** Everything after a position, some at a time. */
  readAll(after: number): AsyncIterable<Batch>;
};

/** The place of an event, whatever position a copy gives it. */
export type Place = { readonly stream: string; readonly revision: number; readonly id: string };

/** A signature over all lines up to an event. */
export type DigestSigned = {
  readonly upTo: Place;
  /** All lines since the beginning of the log. */
  readonly events: number;
  readonly digest: string;
  /** The digests after each 100 lines since the last signature, without the end. */
  readonly steps: readonly string[];
  readonly key: string;
  readonly signature: string;
};

/** From here on another key signs. Without the old key at hand there is no signature by it. */
export type SigningKeyChanged = {
  readonly old: string;
  readonly new: string;
  readonly signatures: { readonly old: string | null; readonly new: string };
};

/** The log begins anew: a copy without what was to be forgotten. `digest` and `key` are the last of the old log. */
export type LogRewritten = {
  readonly removed: {
    readonly accounts: readonly string[];
    readonly jobs: { readonly before: string; readonly count: number } | null;
    readonly events: { readonly before: string; readonly count: number } | null;
  };
  readonly digest: string | null;
  readonly key: string | null;
};

/** An event of the stream of signatures. */
export type Proof =
  | { readonly topic: 'digestSigned'; readonly data: DigestSigned }
  | { readonly topic: 'signingKeyChanged'; readonly data: SigningKeyChanged }
  | { readonly topic: 'logRewritten'; readonly data: LogRewritten };

/** Where an event goes in the stream of signatures, and when. `previous` is the hash of the event before it there. */
type ProofPlace = {
  readonly revision: number;
  readonly previous: string;
  readonly id: string;
  readonly at: string;
};

/** Writes an event of the stream of signatures as the log has its events, with its link: `hash`. */
export type WriteProof = (proof: Proof, place: ProofPlace) => NewEvent & { readonly hash: string };

const isText = (value: unknown): value is string => typeof value === 'string';

const isDigestSigned = ({ upTo, events, digest, steps, key, signature }: Partial<DigestSigned>): boolean =>
  [upTo?.stream, upTo?.id, digest, key, signature].every(isText) &&
  Number.isSafeInteger(upTo?.revision) &&
  Number.isSafeInteger(events) &&
  Array.isArray(steps) &&
  steps.every(isText);

const isKeyChanged = ({ old, new: next, signatures }: Partial<SigningKeyChanged>): boolean =>
  [old, next, signatures?.new].every(isText);

const isRewritten = ({ removed, digest }: Partial<LogRewritten>): boolean =>
  removed !== undefined && digest !== undefined;

/** An event of the stream of signatures, parsed; undefined for one that nobody can read. */
export const proofIn = ({ type, data }: Pick<StoredEvent, 'type' | 'data'>): Proof | undefined => {
  const topic = type.slice(type.lastIndexOf(':') + 1);
  try {
    const parsed: unknown = JSON.parse(data);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    if (topic === 'digestSigned' && isDigestSigned(parsed)) return { topic, data: parsed as DigestSigned };
    if (topic === 'signingKeyChanged' && isKeyChanged(parsed)) return { topic, data: parsed as SigningKeyChanged };
    if (topic === 'logRewritten' && isRewritten(parsed)) return { topic, data: parsed as LogRewritten };
    return undefined;
  } catch {
    return undefined;
  }
};

/** Where the stream of signatures ends. */
export type ProofEnd = {
  /** The last revision and its hash; -1 and '' without events. */
  readonly revision: number;
  readonly hash: string;
  readonly signed: DigestSigned | undefined;
  /** The key of the log; undefined before the first signature. */
  readonly key: string | undefined;
};

/** Reads where the stream of signatures ends. */
export const endOfProofs = async (store: Pick<ProofLog, 'read'>): Promise<ProofEnd> => {
  let end: ProofEnd = { revision: -1, hash: '', signed: undefined, key: undefined };
  for await (const events of store.read(digestStream)) {
    for (const event of events) {
      const proof = proofIn(event);
      end = { ...end, revision: event.revision, hash: hashIn(event.metadata) ?? '' };
      if (proof?.topic === 'digestSigned') end = { ...end, signed: proof.data, key: proof.data.key };
      if (proof?.topic === 'signingKeyChanged') end = { ...end, key: proof.data.new };
    }
  }
  return end;
};
