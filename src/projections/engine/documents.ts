import { seesAll } from '../../domain/engine/core.ts';
import type { Collection } from './define.ts';
import { mayReadGuard, type Reader } from './guards.ts';
import type { Entry, Page, Query, ReadStore } from './port.ts';

/** A page of a collection. The compiler checks that the collection has the fields for sorting and filtering. */
export const pageOf = <Sort extends string, Filter extends string>(
  model: Pick<ReadStore, 'list'>,
  { collection }: Collection<never, Sort, Filter>,
  query: Query<NoInfer<Sort>, NoInfer<Filter>>,
): Promise<Page> => model.list(collection, query);

const pageLength = 1000;

/** All entries that match, page by page. A caller who looks at each document takes short pages, so that other work has its turn. */
export async function* pagesOf<Sort extends string, Filter extends string>(
  model: Pick<ReadStore, 'list'>,
  collection: Collection<never, Sort, Filter>,
  query: Omit<Query<NoInfer<Sort>, NoInfer<Filter>>, 'skip' | 'limit'> & { readonly length?: number },
): AsyncGenerator<Page['entries']> {
  const { length: limit = pageLength, ...which } = query;
  for (let skip = 0; ; ) {
    const { entries, total } = await pageOf(model, collection, { ...which, skip, limit });
    yield entries;
    skip += entries.length;
    if (entries.length === 0 || skip >= total) return;
  }
}

/** Parses the document of an entry of this collection. */
export const documentIn = <Doc>(_: Collection<Doc>, { text }: Pick<Entry, 'text'>): Doc => JSON.parse(text);

/** The documents with these ids; ids without a document are left out. */
export const documentsOf = async <Doc>(
  model: Pick<ReadStore, 'getMany'>,
  collection: Collection<Doc>,
  ids: readonly string[],
): Promise<readonly Doc[]> => {
  const documents: Doc[] = [];
  for (const entry of await model.getMany(collection.collection, ids))
    if (entry) documents.push(documentIn(collection, entry));
  return documents;
};

/** The documents with these ids that the actor may read. */
export const readableDocuments = async <Doc>(
  model: Pick<ReadStore, 'getMany' | 'guard'>,
  collection: Collection<Doc>,
  ids: readonly string[],
  actor: Reader,
): Promise<readonly Doc[]> => {
  const may = mayReadGuard(actor, model);
  const entries = await model.getMany(collection.collection, ids);
  return entries.flatMap((entry) =>
    entry && (seesAll(actor) || entry.guard === undefined || may(entry.guard)) ? [documentIn(collection, entry)] : [],
  );
};

/** The document with this id; undefined if there is none. */
export const documentOf = async <Doc>(
  model: Pick<ReadStore, 'get'>,
  collection: Collection<Doc>,
  id: string,
): Promise<Doc | undefined> => {
  const entry = await model.get(collection.collection, id);
  return entry && documentIn(collection, entry);
};

/**
 * The name of a resource that another one names by its id, so that an export means the same elsewhere. Any other text
 * stays, and so does the id of one that the actor may not read.
 */
export const nameOf = async <Doc extends { readonly name: string }>(
  model: Pick<ReadStore, 'getMany' | 'guard'>,
  collection: Collection<Doc> | undefined,
  idOrName: string | null,
  actor: Reader,
): Promise<string | null> => {
  if (collection === undefined || idOrName === null) return idOrName;
  const [found] = await readableDocuments(model, collection, [idOrName], actor);
  return found ? found.name : idOrName;
};
