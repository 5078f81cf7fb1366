import { type TProperties, type TSchema, Type } from 'typebox';
import type { SchemaData, Topics } from './core.ts';
import type { Sealed } from './sealed.ts';

/** Keeps the names of the topics and the types of their schemas. */
export const topicsOf = <const T extends Topics>(topics: T): T => topics;

/**
 * A schema that says less than the type. Compiles only if the schema takes all that is of the type. The published form
 * of an event is that of the schema.
 */
export const typed =
  <T>() =>
  <S extends TSchema>(schema: S, ..._: T extends SchemaData<S> ? [] : ['The schema refuses some data']) =>
    Type.Unsafe<T>(schema);

export const text = Type.String();
export const texts = Type.Array(Type.String());
export const flag = Type.Boolean();
export const whole = Type.Integer();
export const moment = Type.Integer({ description: 'Epoch milliseconds' });
export const textOrNull = Type.Union([Type.String(), Type.Null()]);
export const anything = Type.Unknown();
/** An object of any members. */
export const anyMembers = Type.Record(Type.String(), Type.Unknown());
/** The same for members that TypeScript does not take for a record. */
export const object = Type.Object({});
/** An event that says all by its topic. */
export const nothing = Type.Object({});
export const sealed = typed<Sealed>()(
  Type.Union([Type.Object({ $sealed: Type.String() }), Type.Literal('********')], {
    description: 'A secret: sealed, or masked where people read it',
  }),
);
export const gbac = Type.Object(
  { read: texts, write: texts },
  { description: 'Names of the groups that may read and write; everybody if both are empty' },
);
/** Times and authors of a document. */
export const authors = {
  created: Type.String(),
  createdBy: textOrNull,
  lastUpdated: Type.String(),
  lastUpdatedBy: textOrNull,
};
/** The times and authors that an imported document adds to the content, and the document as it was written. */
export const restored = {
  ...authors,
  imported: Type.Optional(anyMembers),
};

/** The topic of an import that replaces the whole content of a resource. `kind` is such as `A form`. */
export const restoredAs = <Content extends TProperties>(kind: string, content: Content) =>
  [`${kind} got the content of an imported document`, Type.Object({ ...content, ...restored })] as const;

/** Topics that any stream of the platform may have, whatever its area. They change no resource. */
export const topicsOfAll: Topics = {
  claimLapsed: [
    'A claim of a name was given up before it was used',
    Type.Object({ kind: text, parent: Type.Optional(text), name: text }),
  ],
  turnPassed: ['A command that waited too long in a series was shut out', Type.Object({ series: text })],
};
