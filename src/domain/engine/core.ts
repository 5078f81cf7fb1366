import type { Static, TSchema } from 'typebox';

/**
 * The areas of the API. They are the provenance of methods, and `@platform/<area>` is the source of an area's events.
 */
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
  'automation-studio',
  'audit',
  'health',
] as const;
export type Area = (typeof areas)[number];

/**
 * A fact about one stream. `topic` is in camelCase and the past tense, without a colon. `data` is JSON. `source` is set
 * only for published events, whose source is not that of their area.
 */
export type Event<Topic extends string = string, Data = unknown> = {
  readonly topic: Topic;
  readonly data: Data;
  readonly source?: string;
};

export type DataOf<E extends Event, T extends E['topic']> = Extract<E, { topic: T }>['data'];

/**
 * The meaning of events of one topic: a sentence, and the schema of their data, for those who read events. A schema says what
 * is always so, in events of earlier versions too: members that these lack are optional, limits of today's requests are
 * left out, and further members may follow.
 */
export type Topic = readonly [description: string, data: TSchema];

/** The topics of one kind of stream. */
export type Topics = Readonly<Record<string, Topic>>;

/** The type of a schema's values, with nothing that can be written to. Events are read-only. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]: Frozen<T[Member]> }
    : T;

/** The type of data in events that fits a schema. */
export type SchemaData<S extends TSchema> = Frozen<Static<S>>;

/** The events that topics describe. */
export type EventOf<T extends Topics> = { [K in keyof T & string]: Event<K, SchemaData<T[K][1]>> }[keyof T & string];

/** One function for each topic. The compiler checks that none is missing, so the keys are the list of topics. */
type Evolve<State, E extends Event> = { readonly [T in E['topic']]: (state: State, data: DataOf<E, T>) => State };

/** A name that only one resource of a kind (below the same parent) may have. */
export type Name = { readonly kind: string; readonly parent?: string; readonly name: string };

/**
 * Access lists with names of groups, and ids of accounts if single accounts can have access. If all are empty, everybody
 * has access. `write` implies read.
 */
export type Gbac = {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly accounts?: Pick<Gbac, 'read' | 'write'>;
  /** Not even admins have access: their token is for other resources. */
  readonly closed?: true;
};

/** The kind of use of a resource whose access list is that of another one. */
export type Use = 'run' | 'change';

/** A resource that is followed, by the category and id of its stream. */
export type Followed = { readonly category: string; readonly id: string };

/**
 * The definition of one kind of stream (`<category>-<id>`). Without type arguments it stands for any kind, whose state
 * and events are unknown.
 */
export type Aggregate<State = any, E extends Event = any> = {
  readonly area: Area;
  /** In camelCase, without a dash: EventStoreDB splits category and id at the first dash. */
  readonly category: string;
  readonly topics: { readonly [T in E['topic']]: Topic };
  readonly initial: State;
  readonly evolve: Evolve<State, E>;
  /** For states of which `evolve` gives a part only, or that many events change faster together: the effect of the events. */
  readonly foldAll?: (state: State, events: readonly Event[]) => State;
  /** For streams whose topics users choose: the effect of every event. `evolve` is then empty. */
  readonly published?: (state: State) => State;
  /** Only the platform itself reads these streams: their events are in no list and in no stream of events. */
  readonly internal?: true;
  /** The form of new ids; 24 hex digits by default. */
  readonly ids?: 'uuid';
  /** True if the resource exists: it was created and not deleted. */
  readonly exists: (state: State) => boolean;
  /** The unique names that the resource has in this state; none if it does not exist. */
  readonly names?: (state: State) => readonly Name[];
  /**
   * The names that an intent reserves for other streams. The intent must append an event to each of these streams, even
   * if nothing changes there: that event ends the reservation.
   */
  readonly reservations?: (state: State) => readonly { readonly owner: string; readonly name: Name }[];
  /** Its documents act later, by the account alone. */
  readonly actsLater?: true;
  /** The resource's own access lists. They must survive a delete. */
  readonly gbac?: (state: State) => Gbac;
  /** The access list of what follows the resource, for a use: its `write` may do that. It must survive a delete. */
  readonly gbacBelow?: (state: State, use: Use) => Gbac;
  /** The resource whose access list counts beside the own ones, if there is or was such a resource. */
  readonly follows?: (state: State) => Followed | undefined;
};

/** Defines a kind of stream. Without `exists`, the member `exists` of its state says whether the resource exists. */
export const aggregate = <State, E extends Event>(
  definition: Omit<Aggregate<State, E>, 'exists'> &
    (State extends { readonly exists: boolean }
      ? { readonly exists?: (state: State) => boolean }
      : { readonly exists: (state: State) => boolean }),
): Aggregate<State, E> => ({
  exists: (state) => (state as { readonly exists?: unknown }).exists === true,
  ...definition,
});

/** The state after an event. A topic without a function, such as `claimLapsed`, leaves the state as it is. */
export const evolve = <State, E extends Event>(
  topics: Evolve<State, E>,
  state: State,
  { topic, data }: Event,
): State => {
  // A log may hold any topic, even `toString`.
  if (!Object.hasOwn(topics, topic)) return state;
  return topics[topic as E['topic']](state, data as DataOf<E, E['topic']>);
};

/** The state after the events. */
export const fold = <State, E extends Event>(
  a: Aggregate<State, E>,
  events: readonly Event[],
  from: State = a.initial,
): State => {
  if (a.foldAll) return a.foldAll(from, events);
  return events.reduce<State>(
    (state, event) => (a.published ? a.published(state) : evolve(a.evolve, state, event)),
    from,
  );
};

/** The account on whose behalf a command runs. `admin` passes every access list. */
export type Actor = {
  readonly id: string;
  readonly username: string;
  readonly provenance: string;
  readonly groups: readonly string[];
  readonly admin: boolean;
  /** How the caller has shown who they are; not set where nobody called. */
  readonly via?: Via;
  /** The id of the token that was sent. */
  readonly token?: string;
  /** Of each of these kinds, the ids of the only resources that are there for the actor: a token may be for some inventories. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
};

/** True if a resource of a kind may be there for the actor. */
export const mayName = ({ only }: Pick<Actor, 'only'>, kind: string, id: string): boolean =>
  only?.[kind]?.includes(id) ?? true;

/** True if nothing is hidden from the actor. */
export const seesAll = ({ admin, only }: Pick<Actor, 'admin' | 'only'>): boolean => admin && only === undefined;

export type Via = 'password' | 'cookie' | 'token' | 'ldap' | 'oidc';

/** The key of whoever reads for a long time: by it their rights are found again. */
export const callerKey = ({ id, token }: Pick<Actor, 'id' | 'token'>): string =>
  token === undefined ? id : `${id} ${token}`;

/** The account, and the id of the token if there is one, in such a key. */
export const callerIn = (key: string): { readonly account: string; readonly token: string | undefined } => {
  const [account = '', token] = key.split(' ');
  return { account, token };
};

/** The actor when no request came over HTTP: at the first start, and for tools on the command line. */
export const platform: Actor = { id: '', username: 'platform', provenance: 'platform', groups: [], admin: true };

/** The context of a decision, besides state and input. Decisions have no clock and no random source of their own. */
export type Context<Refs = unknown> = {
  /** The id of the resource that the command changes. */
  readonly id: string;
  /** The time of the attempt: UTC, ISO 8601 with milliseconds. */
  readonly now: string;
  readonly actor: Actor;
  /** Returns an id of 24 hex digits. The same word gives the same id in every attempt of the command. */
  readonly newId: (word: string) => string;
  /** The result of the command's `prepare`: states of other streams, hashed passwords, and so on. */
  readonly refs: Refs;
};
