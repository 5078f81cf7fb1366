import type { Authored } from '../../domain/engine/authors.ts';
import type { Aggregate, DataOf, Event } from '../../domain/engine/core.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { CollectionSpec, Entry, Where } from './port.ts';

/** A collection as its readers name it. They use this value, so a field that the collection lacks does not compile. */
export type Collection<Doc = never, Sort extends string = string, Filter extends string = string> = {
  readonly collection: string;
  /**
   * The first sort field is the name: the default order, and the value by which `{id}` in a path may name a document.
   */
  readonly sorts: Readonly<Record<Sort, (doc: Doc) => string>>;
  readonly filters: Readonly<Record<Filter, (doc: Doc) => string | readonly string[]>>;
  /** The key that tells who may read a document (guards.ts); undefined: everybody. */
  readonly guard?: (doc: Doc) => string | undefined;
};

type Definition<Doc, E extends Event, Sort extends string, Filter extends string> = Collection<Doc, Sort, Filter> & {
  readonly on: { readonly [T in E['topic']]: (doc: Doc | undefined, event: Recorded<DataOf<E, T>>) => Doc | undefined };
  /** The word for a document in messages, if not by the words of its category. */
  readonly word?: string;
  /**
   * The filter fields that hold names of groups and roles; `only`: of these documents. A name in them is not deleted or
   * renamed.
   */
  readonly names?: {
    readonly [kind in 'group' | 'role']?: { readonly field: NoInfer<Filter>; readonly only?: Where<NoInfer<Filter>> };
  };
  /** The `componentType` of the automations that run such a document, which they name by id or name. */
  readonly component?: string;
  /** Another projection shows the resource itself: commands answer with its documents. */
  readonly beside?: true;
  /** Documents that are retired some time after they have ended, with all that other projections make of their streams. */
  readonly retires?: {
    /** When the document has ended; undefined: it has not. */
    readonly ended: (doc: Doc) => string | undefined;
    /** The sort field with the time when it began. */
    readonly from: NoInfer<Sort>;
  };
  /** Documents that name retired documents of a category. `without` gives the document without these names. */
  readonly forgets?: {
    readonly category: string;
    readonly without: (doc: Doc, deletedIds: ReadonlySet<string>) => Doc;
  };
  /** Each version of a document follows an earlier one: an earlier version is judged by its own guard, too. */
  readonly guardsVersions?: true;
  /** Child documents: they share the stream and have a collection of their own. */
  readonly children?: Children<any, E>; // the type of the children's documents does not matter here
};

/**
 * One collection of documents. For each topic of the aggregate it has a pure function from document and event to the
 * next document; `undefined` removes the document. A document depends on its own stream only; its id is the stream's
 * id.
 */
export type Projection<
  Doc = any, // without arguments: a projection of any documents and events
  E extends Event = any,
  Sort extends string = string,
  Filter extends string = string,
> = Definition<Doc, E, Sort, Filter> & {
  readonly of: Aggregate;
};

/**
 * The changes that an event makes to the children: `cleared` removes all earlier ones, `removed` those of these names,
 * then each of `put` is written under its name.
 */
export type ChildChanges<Doc> = {
  readonly cleared?: true;
  readonly removed?: readonly string[];
  readonly put?: readonly (readonly [name: string, doc: Doc])[];
};

/**
 * The children of one kind of document. For some topics it has a pure function from the event alone to the children's
 * changes. A child's id is `<id of the parent>/<name>`. The collection is kept in parts, one for each parent.
 */
export type Children<
  Doc = any, // as in Projection
  E extends Event = any,
  Sort extends string = string,
  Filter extends string = string,
> = Omit<Collection<Doc, Sort, Filter>, 'guard'> & {
  readonly on: { readonly [T in E['topic']]?: (event: Recorded<DataOf<E, T>>) => ChildChanges<Doc> };
};

/** Makes a projection into documents of the given type. The aggregate gives the types of the events. */
export const projection =
  <Doc>() =>
  <State, E extends Event, Sort extends string, Filter extends string>(
    of: Aggregate<State, E>,
    definition: Definition<Doc, E, Sort, Filter>,
  ): Projection<Doc, E, Sort, Filter> => ({ ...definition, of });

/** Makes children of the given type from these events of their parent. */
export const childrenOf =
  <Doc, E extends Event>() =>
  <Sort extends string, Filter extends string>(
    children: Children<Doc, E, Sort, Filter>,
  ): Children<Doc, E, Sort, Filter> =>
    children;

/**
 * The document after the event. A topic without a function does not change it. Throws if the function throws, or if the
 * next document cannot be sorted, filtered or guarded.
 */
export const project = <Doc>(p: Projection<Doc>, doc: Doc | undefined, event: Recorded): Doc | undefined => {
  const step = Object.hasOwn(p.on, event.topic) ? p.on[event.topic] : undefined;
  if (!step) return doc;
  const next = step(doc, event);
  if (next !== undefined && next !== doc) checkDocument(p, next);
  return next;
};

/** The changes of the children of the document with this id. Throws like `project`. */
export const projectChildren = <Doc>(children: Children<Doc>, id: string, event: Recorded): ChildChanges<Doc> => {
  const step = Object.hasOwn(children.on, event.topic) ? children.on[event.topic] : undefined;
  if (!step) return {};
  // The part of a child is the text before the first slash of its id.
  if (id === '' || id.includes('/')) throw new Error('The id of the document is none that children can have');
  const changes = step(event);
  for (const [, doc] of changes.put ?? []) checkDocument(children, doc);
  return changes;
};

type Found<Doc> = Pick<Projection<Doc>, 'sorts' | 'filters' | 'guard'>;

const isTexts = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

/** Throws unless lists can sort and filter the document, and its guard is a text or undefined. */
const checkDocument = <Doc>({ sorts, filters, guard }: Found<Doc>, doc: Doc): void => {
  if (typeof doc !== 'object' || doc === null) throw new Error('The document is no object');
  for (const field in sorts)
    if (typeof sorts[field]?.(doc) !== 'string') throw new Error(`The document has no text to sort by ${field}`);
  for (const field in filters)
    if (!isTexts(filters[field]?.(doc))) throw new Error(`The document has no texts to filter by ${field}`);
  const key: unknown = guard?.(doc);
  if (key !== undefined && typeof key !== 'string') throw new Error('The document does not say who may see it');
};

const specOf = (p: Collection): CollectionSpec => ({
  name: p.collection,
  sorts: Object.keys(p.sorts),
  filters: Object.keys(p.filters),
});

/** The collections that a projection fills. */
export const specsOf = (p: Projection): readonly CollectionSpec[] =>
  p.children ? [specOf(p), { ...specOf(p.children), partitioned: true }] : [specOf(p)];

/** The sort field that holds the documents' name. */
export const nameSort = ({ collection, sorts }: Collection): string => {
  for (const field in sorts) return field;
  throw new Error(`The collection ${collection} has no sort field`);
};

/**
 * When a document ended, epoch milliseconds; undefined: it has not, or it is not retired either. It never ends before it
 * begins, though the clocks of nodes may say so: those that are retired are looked for in the order of their beginnings.
 */
export const endedAt = <Doc>(
  { retires, sorts }: Pick<Projection<Doc>, 'retires' | 'sorts'>,
  doc: Doc | undefined,
): number | undefined => {
  const ended = doc === undefined ? undefined : retires?.ended(doc);
  if (doc === undefined || !retires || ended === undefined) return undefined;
  return Math.max(Date.parse(ended), Date.parse(sorts[retires.from]?.(doc) ?? ended));
};

/** The name of a document. */
export const nameOf = <Doc>({ sorts }: Pick<Projection<Doc>, 'sorts'>, doc: Doc): string => {
  for (const field in sorts) return sorts[field]?.(doc) ?? '';
  return '';
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The entry that the read models keep for a document. */
export const entryOf = <Doc>(p: Found<Doc>, id: string, doc: Doc, revision: number): Entry => {
  const entry: Mutable<Entry> = {
    id,
    revision,
    text: JSON.stringify(doc),
    sorts: mapped(p.sorts, (sort) => sort(doc)),
    filters: mapped(p.filters, (filter) => {
      const value = filter(doc);
      return typeof value === 'string' ? [value] : value;
    }),
  };
  const guard = p.guard?.(doc);
  if (guard !== undefined) entry.guard = guard;
  return entry;
};

const mapped = <A, B>(record: Readonly<Record<string, A>>, f: (a: A) => B): Record<string, B> => {
  const out: Record<string, B> = {};
  for (const key in record) out[key] = f(record[key] as A);
  return out;
};

/** The id of the resource that an event is about. */
export const idOf = ({ stream }: Recorded): string => splitStream(stream).id;

/** Times and authors of a document that an event creates. */
export const authorship = ({ metadata: { at, actor } }: Recorded): Authored => ({
  created: at,
  createdBy: actor.id,
  lastUpdated: at,
  lastUpdatedBy: actor.id,
});

/** Time and author of the last change of a document, from the event that changes it. */
export const touched = ({ metadata: { at, actor } }: Recorded): Pick<Authored, 'lastUpdated' | 'lastUpdatedBy'> => ({
  lastUpdated: at,
  lastUpdatedBy: actor.id,
});
