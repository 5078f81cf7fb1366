import type { Aggregate } from '../../domain/engine/core.ts';
import type { Collection } from '../../projections/engine/define.ts';
import type { Tools } from './define.ts';

/** The kind of resource that is imported. */
type Imported = { readonly aggregate: Aggregate; readonly collection: Collection<never, string, 'name'> };

/**
 * The id of the resource that an import of a document creates or changes. The first of these counts: the document's own
 * id if a resource has it, the id of a resource with the document's name, the document's own id, `fresh`.
 */
export const importedId = async (
  { aggregate, collection }: Imported,
  { _id, name }: { readonly _id?: string | undefined; readonly name: string },
  fresh: string,
  { state, findWithin }: Tools,
): Promise<string> => {
  if (_id !== undefined && aggregate.exists(await state(aggregate, _id))) return _id;
  const [namesake] = await findWithin(collection, 'name', name, [name]);
  return namesake ?? _id ?? fresh;
};
