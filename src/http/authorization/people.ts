import type { Authored } from '../../domain/engine/authors.ts';
import type { Gbac } from '../../domain/engine/core.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { groups } from '../../projections/authorization/groups.ts';
import { documentsOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import type { Join } from '../engine/route.ts';

type Signed = Pick<Authored, 'createdBy' | 'lastUpdatedBy'>;

/** Usernames of accounts by id. Ids without an account are left out. */
export const usernames = async (model: ReadModel, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const found = await documentsOf(model, accounts, [...new Set(ids)]);
  return new Map(found.map(({ _id, username }) => [_id, username]));
};

/** Makes the function that replaces authors' ids by usernames. Ids without an account stay as they are. */
export const signing = async (model: ReadModel, documents: readonly Signed[]) => {
  const names = await usernames(
    model,
    documents.flatMap(({ createdBy, lastUpdatedBy }) => [createdBy, lastUpdatedBy].filter((id) => id !== null)),
  );
  const who = (id: string | null) => (id === null ? null : (names.get(id) ?? id));
  return <D extends Signed>(document: D): D => ({
    ...document,
    createdBy: who(document.createdBy),
    lastUpdatedBy: who(document.lastUpdatedBy),
  });
};

/** A document with usernames in the place of its authors' ids. */
export const signed: Join<Signed> = async (doc, { model }) => (await signing(model, [doc]))(doc);

export type Author = {
  readonly _id: string;
  readonly username: string;
  readonly firstname: string;
  readonly provenance: string;
};

/** Makes the function that gives an author as an object by id; null for null, and for a deleted account. */
export const authorObjects = async (model: ReadModel, ids: readonly (string | null)[]) => {
  const found = await documentsOf(model, accounts, [...new Set(ids.filter((id) => id !== null))]);
  const authors = new Map(
    found.map(({ _id, username, firstname, provenance }) => [_id, { _id, username, firstname, provenance }]),
  );
  return (id: string | null): Author | null => (id === null ? null : (authors.get(id) ?? null));
};

type GroupObject = { readonly provenance: string; readonly name: string; readonly description: string };

/** Makes the function that gives group objects by name. An unknown group's object has only a name. */
export const groupObjects = async (model: ReadModel, names: readonly string[]) => {
  const distinct = [...new Set(names)];
  const ids = await Promise.all(distinct.map((name) => model.idsNamed(groups.collection, name)));
  const documents = await documentsOf(model, groups, ids.flat());
  const found = new Map(
    documents.map(({ provenance, name, description }) => [name, { provenance, name, description }]),
  );
  return (list: readonly string[]): readonly GroupObject[] =>
    list.map((name) => found.get(name) ?? { provenance: '', name, description: '' });
};

/** Access lists with group objects in the place of names. */
export const withGroups = async (model: ReadModel, { read, write }: Gbac) => {
  const objects = await groupObjects(model, [...read, ...write]);
  return { read: objects(read), write: objects(write) };
};
