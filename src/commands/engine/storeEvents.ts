import { randomUUID } from 'node:crypto';
import type { Event, Name } from '../../domain/engine/core.ts';
import { sameName } from '../../domain/engine/names.ts';
import { encode, type Metadata, type Recorded } from '../../store/event.ts';
import { goesInParts, slimmed } from '../../store/payloads.ts';
import type { EventStore } from '../../store/port.ts';
import type { About } from './appendOne.ts';
import type { NameClaims } from './claims.ts';
import { type Attempt, namesWanted } from './decide.ts';
import type { LoadedStream } from './loaded.ts';
import type { Streams } from './streams.ts';

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

type Needs = { readonly store: EventStore; readonly streams: Streams; readonly claims: NameClaims };

/** `kept`: the stream with the new events. */
type Stored = { readonly kept: LoadedStream; readonly stored: readonly Recorded[] };

const homeOf = ({ command }: Attempt): string => `@platform/${command.aggregate.area}`;

/** Encodes the events with these data. Each event is linked to the one before by its hash. */
const encoded = (attempt: Attempt, events: readonly Event[], data: readonly unknown[]) => {
  const { stream, past, about, request } = attempt;
  const home = homeOf(attempt);
  let { hash, revision } = past;
  return events.map(({ topic, source = home }, i) => {
    const given = i === events.length - 1 ? request.eventId : undefined;
    const made = encode(
      { stream, revision: ++revision, id: given ?? randomUUID(), source },
      { topic, data: data[i] },
      about,
      hash,
    );
    hash = made.hash;
    return made;
  });
};

/** Member by member: V8 copies objects slowly that get another member then. */
const metadataOf = (about: About, hash: string): Metadata => {
  const { $correlationId, $causationId, at, actor, operation, requestId, schemaVersion } = about;
  const metadata: Writable<Metadata> = {
    $correlationId,
    $causationId,
    at,
    actor,
    operation,
    requestId,
    schemaVersion,
    hash,
  };
  const { traceparent, idempotency, depth } = about;
  if (traceparent !== undefined) metadata.traceparent = traceparent;
  if (idempotency) metadata.idempotency = idempotency;
  if (depth !== undefined) metadata.depth = depth;
  return metadata;
};

/** The name by which the request called the resource, if a retry needs it and no claim records it. */
const nameToNote = ({ command: { aggregate }, request, past }: Attempt): Name | undefined => {
  if (!request.idempotency || !request.calledBy) return undefined;
  const name = { kind: aggregate.category, ...request.calledBy };
  const held = aggregate.names?.(past.state) ?? [];
  return held.some((one) => sameName(one, name)) ? undefined : name;
};

/** Stores all events of an attempt in one append, at the revision that the attempt has read. */
export const eventStorer =
  ({ store, streams, claims }: Needs) =>
  async (attempt: Attempt, events: readonly Event[]): Promise<Stored> => {
    const { stream, past, about } = attempt;
    const wanted = namesWanted(attempt, events);
    const home = homeOf(attempt);
    const facts = events.map(({ data }) => data);
    const whole = encoded(attempt, events, facts);
    const chunked = goesInParts(whole);
    const noted = nameToNote(attempt);
    // Chunks, notes and claims are events too. So check all names before the first of them is stored.
    if (chunked || noted || wanted.length > 1) await claims.refuseTaken(wanted);
    const texts = chunked ? encoded(attempt, events, await slimmed(store, home, facts)) : whole;
    // As everybody will read them once they are stored. Nobody has them yet, so their position is set then.
    const recorded = texts.map(({ id, hash }, i): Writable<Recorded> => {
      const { topic, source = home } = events[i]!; // one text for each event
      const metadata = metadataOf(about, hash);
      const data: unknown = JSON.parse(whole[i]!.data);
      return { id, stream, revision: past.revision + 1 + i, position: 0, source, topic, data, metadata };
    });
    const grown = streams.extend(stream, past, recorded);

    if (noted) await claims.note(noted, attempt);
    const append = () => store.append(stream, past.revision, texts);
    const { position } = await (wanted.length > 0 ? claims.claiming(wanted, attempt, append) : append());
    for (const event of recorded) event.position = position;
    grown.position = position;
    const bytes = whole.reduce((sum, { data }) => sum + data.length, 0);
    return { kept: streams.keep(stream, grown, recorded, bytes), stored: recorded };
  };
