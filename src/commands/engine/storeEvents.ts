import { randomUUID } from 'node:crypto';
import type { Event, Name } from '../../domain/engine/core.ts';
import { sameName } from '../../domain/engine/names.ts';
import { encode, type Recorded } from '../../store/event.ts';
import { goesInParts, slimmed } from '../../store/payloads.ts';
import type { EventStore } from '../../store/port.ts';
import type { NameClaims } from './claims.ts';
import { type Attempt, namesWanted } from './decide.ts';
import type { LoadedStream } from './loaded.ts';
import type { Streams } from './streams.ts';

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
    // The data as everybody will read them once they are stored.
    const read = whole.map(({ data }): unknown => JSON.parse(data));
    const recorded = (position: number): Recorded[] =>
      texts.map(({ id, hash }, i) => {
        const { topic, source = home } = events[i]!; // one text for each event
        const revision = past.revision + 1 + i;
        return { id, stream, revision, position, source, topic, data: read[i], metadata: { hash, ...about } };
      });
    const grown = streams.extend(stream, past, recorded(0));

    if (noted) await claims.note(noted, attempt);
    const { position } = await claims.claiming(wanted, attempt, () => store.append(stream, past.revision, texts));
    const stored = recorded(position);
    const bytes = whole.reduce((sum, { data }) => sum + data.length, 0);
    return { kept: streams.keep(stream, { ...grown, position }, stored, bytes), stored };
  };
