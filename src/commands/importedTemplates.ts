import type { Tools } from './define.ts';

/**
 * The id under which a template is taken in: its own if it has one; that of the template with its name if it has none, or
 * if that one is to be overwritten. Undefined: a new one.
 */
export const importedId = async ({ find, query }: Tools, collection: string, { _id, name }: { readonly _id?: string; readonly name: string }, overwrite: boolean): Promise<string | undefined> => {
  if (_id !== undefined && (!overwrite || (await find(collection, _id)) === _id)) return _id;
  const [namesake] = await query(collection, { field: 'name', op: 'equals', value: name });
  return namesake?._id ?? _id;
};
