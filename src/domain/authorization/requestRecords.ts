import { type TObject, type TProperties, Type } from 'typebox';
import { aggregate, type EventOf, type SchemaData } from '../engine/core.ts';
import { text, textOrNull, topicsOf, whole } from '../engine/topics.ts';

/** `account` is the id of the caller's account, if it is known. */
const who = { account: textOrNull, address: textOrNull, operation: textOrNull };

/** A request that was refused, with the error code of the answer. */
const deniedRequest = Type.Object({ ...who, code: textOrNull });
export type DeniedRequest = SchemaData<typeof deniedRequest>;

/** A request that took something out of the service. `resource` is null if it was none alone. */
const handOut = Type.Object({ ...who, resource: Type.Union([Type.Object({ kind: text, id: text }), Type.Null()]) });
export type HandOut = SchemaData<typeof handOut>;

/** Requests that were counted for some time. `first` and `last`: when; UTC, ISO 8601 with milliseconds. */
const counted = <Row extends TProperties>({ properties }: TObject<Row>) =>
  Type.Object({ rows: Type.Array(Type.Object({ ...properties, count: whole })), first: text, last: text });
export type Counted<Row> = {
  readonly rows: readonly (Row & { readonly count: number })[];
  readonly first: string;
  readonly last: string;
};

const deniedTopics = topicsOf({
  requestsDenied: ['Requests were refused', counted(deniedRequest)],
});
export type DenialEvent = EventOf<typeof deniedTopics>;

const handedOutTopics = topicsOf({
  exported: ['Resources were exported', counted(handOut)],
  secretsHandedOut: ['Callers got secrets in clear', counted(handOut)],
});
export type HandOutEvent = EventOf<typeof handedOutTopics>;

type State = { readonly noted: boolean };

/** Requests that were refused on one day; the id is the day in UTC, such as 2026-01-31. */
export const denied = aggregate<State, DenialEvent>({
  area: 'authorization',
  category: 'denied',
  topics: deniedTopics,
  internal: true,
  initial: { noted: false },
  evolve: { requestsDenied: () => ({ noted: true }) },
  exists: ({ noted }) => noted,
});

/** Exports, and secrets that were given out, on one day. The id is the day in UTC. */
export const handedOut = aggregate<State, HandOutEvent>({
  area: 'authorization',
  category: 'handedOut',
  topics: handedOutTopics,
  internal: true,
  initial: { noted: false },
  evolve: { exported: () => ({ noted: true }), secretsHandedOut: () => ({ noted: true }) },
  exists: ({ noted }) => noted,
});
