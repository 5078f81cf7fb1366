import type { Authored } from '../domain/authors.ts';
import type { Gbac } from '../domain/core.ts';
import type { ReadStore } from '../projections/port.ts';

/** Puts usernames in the place of the authors' account ids; what is no account's id stays as it is. */
export const signing = async (model: ReadStore, documents: readonly Authored[]) => {
  const ids = [...new Set(documents.flatMap(({ createdBy, lastUpdatedBy }) => [createdBy, lastUpdatedBy].filter((id) => id !== null)))];
  const entries = await model.getMany('accounts', ids);
  const names = new Map(entries.flatMap((entry) => (entry ? [[entry.id, (JSON.parse(entry.text) as { username: string }).username]] : [])));
  const who = (id: string | null) => (id === null ? null : names.get(id) ?? id);
  return <D extends Authored>(document: D): D => ({ ...document, createdBy: who(document.createdBy), lastUpdatedBy: who(document.lastUpdatedBy) });
};

type GroupObject = { readonly provenance: string; readonly name: string; readonly description: string };

/** Access lists with group objects in the place of names. */
export const withGroups = async (model: ReadStore, { read, write }: Gbac) => {
  const names = [...new Set([...read, ...write])];
  const { entries } = names.length === 0 ? { entries: [] } : await model.list('groups', {
    where: { any: names.map((value) => ({ field: 'name', op: 'equals', value })) }, sort: 'name', order: 1, skip: 0, limit: names.length,
  });
  const found = new Map(entries.map(({ text }) => {
    const { provenance, name, description } = JSON.parse(text) as GroupObject;
    return [name, { provenance, name, description }] as const;
  }));
  const objects = (list: readonly string[]) => list.map((name): GroupObject => found.get(name) ?? { provenance: '', name, description: '' });
  return { read: objects(read), write: objects(write) };
};
