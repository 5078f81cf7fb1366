import { aggregate, type Event } from '../engine/core.ts';

/** A request that was refused. `account` is the id of the caller's account, if it is known. */
export type DeniedRequest = {
  readonly account: string | null;
  readonly address: string | null;
  readonly operation: string | null;
  /** The error code of the answer. */
  readonly code: string | null;
};

/** A request that took something out of the service. `resource` is null if it was none alone. */
export type HandOut = {
  readonly account: string | null;
  readonly address: string | null;
  readonly operation: string | null;
  readonly resource: { readonly kind: string; readonly id: string } | null;
};

/** Requests that were counted for some time. `first` and `last`: when; UTC, ISO 8601 with milliseconds. */
export type Counted<Row> = {
  readonly rows: readonly (Row & { readonly count: number })[];
  readonly first: string;
  readonly last: string;
};

export type DenialEvent = Event<'requestsDenied', Counted<DeniedRequest>>;
export type HandOutEvent = Event<'exported', Counted<HandOut>> | Event<'secretsHandedOut', Counted<HandOut>>;

type State = { readonly noted: boolean };

/** Requests that were refused on one day; the id is the day in UTC, such as 2026-01-31. */
export const denied = aggregate<State, DenialEvent>({
  area: 'authorization',
  category: 'denied',
  internal: true,
  initial: { noted: false },
  evolve: { requestsDenied: () => ({ noted: true }) },
  exists: ({ noted }) => noted,
});

/** Exports, and secrets that were given out, on one day. The id is the day in UTC. */
export const handedOut = aggregate<State, HandOutEvent>({
  area: 'authorization',
  category: 'handedOut',
  internal: true,
  initial: { noted: false },
  evolve: { exported: () => ({ noted: true }), secretsHandedOut: () => ({ noted: true }) },
  exists: ({ noted }) => noted,
});
