import type { Aggregate, DataOf, Event } from '../domain/core.ts';
import type { Recorded } from '../store/event.ts';
import type { CollectionSpec, Entry } from './port.ts';

/**
 * One collection of documents: a pure function per topic of the aggregate, from the document and the event to the next
 * document; `undefined` removes it. A document depends on its own stream only; its id is the stream's id.
 */
export type Projection<Doc = any, E extends Event = any> = {
  readonly collection: string;
  readonly of: Aggregate<any, E>; // the state is of no concern here
  readonly on: { readonly [T in E['type']]: (doc: Doc | undefined, event: Recorded<DataOf<E, T>>) => Doc | undefined };
  /** The first is the name: the default order, and what `{id}` in a path may name. */
  readonly sorts: Readonly<Record<string, (doc: Doc) => string>>;
  readonly filters: Readonly<Record<string, (doc: Doc) => string | readonly string[]>>;
  /** Who may read (http/gbac.ts); undefined: everybody. */
  readonly guard?: (doc: Doc) => string | undefined;
  /** Documents in a collection of their own that live in the same stream. */
  readonly children?: Children<any, E>; // the children's documents are their own affair
};

/** What an event makes of the children: `cleared` removes all that there were, then each of `put` is written under its name. */
export type ChildChanges<Doc = any> = { readonly cleared?: true; readonly put?: readonly (readonly [name: string, doc: Doc])[] }; // as in Projection

/**
 * The children of one kind of document: a pure function per topic from the event alone to what becomes of them. The id
 * of a child is `<id of the parent>/<name>`: its collection is kept in parts, one for each parent.
 */
export type Children<Doc = any, E extends Event = any> = Pick<Projection<Doc, E>, 'collection' | 'sorts' | 'filters'> & {
  readonly on: { readonly [T in E['type']]?: (event: Recorded<DataOf<E, T>>) => ChildChanges<Doc> };
};

/** What lists ask a collection for. */
export type Listed = Pick<Projection, 'collection' | 'sorts' | 'filters' | 'guard'>;

export const projection = <Doc, E extends Event>(aggregate: Aggregate<any, E>, p: Omit<Projection<Doc, E>, 'of'>): Projection<Doc, E> =>
  ({ ...p, of: aggregate });

/** The document after the event. A topic without a function leaves it as it is. */
export const project = <Doc>(p: Projection<Doc>, doc: Doc | undefined, event: Recorded): Doc | undefined => {
  const step = p.on[event.topic];
  return step ? step(doc, event) : doc;
};

const specOf = (p: Listed): CollectionSpec => ({ name: p.collection, sorts: Object.keys(p.sorts), filters: Object.keys(p.filters) });

/** The collections that a projection fills. */
export const specsOf = (p: Projection): readonly CollectionSpec[] => [specOf(p), ...(p.children ? [{ ...specOf(p.children), inParts: true as const }] : [])];

/** What the read models keep of a document. */
export const entryOf = <Doc>(p: Pick<Projection<Doc>, 'sorts' | 'filters' | 'guard'>, id: string, doc: Doc, revision: number): Entry => {
  const guard = p.guard?.(doc);
  return {
    id, revision,
    text: JSON.stringify(doc),
    sorts: mapped(p.sorts, (sort) => sort(doc)),
    filters: mapped(p.filters, (filter) => {
      const value = filter(doc);
      return typeof value === 'string' ? [value] : value;
    }),
    ...(guard !== undefined && { guard }),
  };
};

const mapped = <A, B>(record: Readonly<Record<string, A>>, f: (a: A) => B): Record<string, B> => {
  const out: Record<string, B> = {};
  for (const key in record) out[key] = f(record[key] as A);
  return out;
};
