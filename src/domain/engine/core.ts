/** The areas of the API: provenance of methods; `@platform/<area>` is the source of an area's events. */
export const areas = [
  'authorization',
  'lifecycle-manager',
  'operations-manager',
  'mop',
  'prebuilts',
  'group-mappings',
  'gateway-manager',
  'configuration-manager',
  'agent-session-manager',
  'customization',
  'profiles',
  'template-builder',
  'json-forms',
  'inventory-manager',
  'automation-catalog',
] as const;
export type Area = (typeof areas)[number];

/**
 * A fact of one stream: its topic (camelCase, past tense, no colon) and what is known about it (JSON only). `source`:
 * of a published event, which has not that of its area.
 */
export type Event<Topic extends string = string, Data = unknown> = {
  readonly topic: Topic;
  readonly data: Data;
  readonly source?: string;
};

export type DataOf<E extends Event, T extends E['topic']> = Extract<E, { topic: T }>['data'];

/** One function per topic: complete by construction, and its keys are the list of topics. */
type Evolve<State, E extends Event> = { readonly [T in E['topic']]: (state: State, data: DataOf<E, T>) => State };

/** A name that nobody else of its kind (under the same parent) may hold. */
export type Name = { readonly kind: string; readonly parent?: string; readonly name: string };

/** Who may see and change: names of groups. Both lists empty: everybody. `write` implies read. */
export type Gbac = { readonly read: readonly string[]; readonly write: readonly string[] };

/**
 * Everything there is to know about one kind of stream (`<category>-<id>`). Without arguments it is that of any kind:
 * its state and events are its own affair.
 */
export type Aggregate<State = any, E extends Event = any> = {
  readonly area: Area;
  /** camelCase, no dash: EventStoreDB splits category and id at the first dash. */
  readonly category: string;
  readonly initial: State;
  readonly evolve: Evolve<State, E>;
  /** For topics that are not ours to list: what each of them does; `evolve` has none then. */
  readonly published?: (state: State) => State;
  /** How ids of new ones are written; 24 hex digits unless given. */
  readonly ids?: 'uuid';
  /** Whether the resource is there: neither not yet created nor deleted. */
  readonly exists: (state: State) => boolean;
  /** The unique names that the resource holds in this state; none when it does not exist. */
  readonly names?: (state: State) => readonly Name[];
  /**
   * For an intent that creates or changes several resources: the names it gives to their streams. Each of these streams
   * gets an event as a part of it, also when nothing changes there: that event ends the promise.
   */
  readonly reservations?: (state: State) => readonly { readonly owner: string; readonly name: Name }[];
  /** Its own access lists, kept after a delete. */
  readonly gbac?: (state: State) => Gbac;
};

export const aggregate = <State, E extends Event>(a: Aggregate<State, E>): Aggregate<State, E> => a;

/** The state after the events. A topic without a function (a lapsed claim) leaves the state as it is. */
export const fold = <State, E extends Event>(
  a: Aggregate<State, E>,
  events: readonly Event[],
  from: State = a.initial,
): State =>
  events.reduce<State>((state, { topic: type, data }) => {
    if (a.published) return a.published(state);
    // Types are whatever a log has: `toString` too.
    if (!Object.hasOwn(a.evolve, type)) return state;
    return a.evolve[type as E['topic']](state, data as DataOf<E, E['topic']>);
  }, from);

/** The account on whose behalf something happens. `admin` passes every gbac. */
export type Actor = {
  readonly id: string;
  readonly username: string;
  readonly provenance: string;
  readonly groups: readonly string[];
  readonly admin: boolean;
};

/** Who acts when nobody asked over HTTP: the first start, tools on the command line. */
export const platform: Actor = { id: '', username: 'platform', provenance: 'platform', groups: [], admin: true };

/** What a decision may know besides its state and input: never a clock or a random source of its own. */
export type Context<Refs = unknown> = {
  /** Id of the resource that the command is about. */
  readonly id: string;
  /** UTC, ISO 8601 with milliseconds. */
  readonly now: string;
  readonly actor: Actor;
  /** A 24-hex id; the same word gives the same id however often the decision is repeated. */
  readonly newId: (word: string) => string;
  /** What the command's `prepare` found: states of other streams, hashed passwords, ... */
  readonly refs: Refs;
};
