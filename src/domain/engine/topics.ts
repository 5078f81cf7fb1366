import { type Static, type TSchema, Type } from 'typebox';
import type { Aggregate, DataOf, Event } from './core.ts';

/** What an event of one topic says: a sentence, and the schema of its data. */
export type Topic = readonly [description: string, data: TSchema];

/** The topics of one kind of stream. */
export type Described = { readonly aggregate: Aggregate; readonly topics: Readonly<Record<string, Topic>> };

/** The type of a schema's values, with nothing that can be written to. Events are read-only. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]: Frozen<T[Member]> }
    : T;

/** Compiles only if each schema takes all data that decisions may store under its topic. */
type Taking<E extends Event, T extends Readonly<Record<string, Topic>>> = {
  readonly [K in E['topic']]: DataOf<E, K> extends Frozen<Static<T[K][1]>> ? unknown : 'The schema refuses some data';
};

/**
 * Describes every topic of an aggregate, for those who read events. A schema says what is always so, in events of
 * earlier versions too: members that these lack are optional, limits of today's requests are left out, and further
 * members may follow.
 */
export const describeTopics = <State, E extends Event, const T extends { readonly [K in E['topic']]: Topic }>(
  aggregate: Aggregate<State, E>,
  topics: T & Taking<E, T>,
): Described => ({ aggregate, topics });

export const text = Type.String();
export const texts = Type.Array(Type.String());
export const flag = Type.Boolean();
export const whole = Type.Integer();
export const textOrNull = Type.Union([Type.String(), Type.Null()]);
export const anything = Type.Unknown();
/** An object of any members. */
export const members = Type.Record(Type.String(), Type.Unknown());
/** The same for members that TypeScript does not take for a record. */
export const object = Type.Object({});
/** An event that says all by its topic. */
export const nothing = Type.Object({});
export const sealed = Type.Union([Type.Object({ $sealed: Type.String() }), Type.Literal('********')], {
  description: 'A secret: sealed, or masked where people read it',
});
export const gbac = Type.Object(
  { read: texts, write: texts },
  { description: 'Names of the groups that may read and write; everybody if both are empty' },
);
/** What an imported document adds to the content: its times and authors, and the document as it was written. */
export const restored = {
  created: Type.String(),
  createdBy: textOrNull,
  lastUpdated: Type.String(),
  lastUpdatedBy: textOrNull,
  imported: Type.Optional(members),
};
