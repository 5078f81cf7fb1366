import type { Authored } from '../../domain/engine/authors.ts';
import type { Gbac } from '../../domain/engine/core.ts';
import { accounts, formerAccounts } from '../../projections/authorization/accounts.ts';
import { type Group, groups } from '../../projections/authorization/groups.ts';
import { documentsOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import type { Join } from '../engine/route.ts';

type Signed = Pick<Authored, 'createdBy' | 'lastUpdatedBy'>;

export type Author = {
  readonly _id: string;
  readonly username: string;
  /** Empty for a deleted account: only its name is kept. */
  readonly firstname: string;
  readonly provenance: string;
};

/** Accounts by id, also deleted ones. Forgotten ones, and ids without an account, are left out. */
export const people = async (
  model: ReadModel,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, Author & { readonly isDeleted: boolean }>> => {
  const accountIds = [...new Set(ids.filter((id) => id !== null))];
  const present = (await documentsOf(model, accounts, accountIds)).map((one) => ({ ...one, isDeleted: false }));
  const others = accountIds.filter((id) => !present.some(({ _id }) => _id === id));
  const former = others.length === 0 ? [] : await documentsOf(model, formerAccounts, others);
  return new Map(
    [...present, ...former.map((one) => ({ ...one, firstname: '' }))].map(
      ({ _id, username, firstname, provenance, isDeleted }) => [
        _id,
        { _id, username, firstname, provenance, isDeleted },
      ],
    ),
  );
};

/** Makes the function that replaces authors' ids by usernames. Ids without an account stay as they are. */
export const signing = async (model: ReadModel, documents: readonly Signed[]) => {
  const found = await people(
    model,
    documents.flatMap(({ createdBy, lastUpdatedBy }) => [createdBy, lastUpdatedBy]),
  );
  const who = (id: string | null) => (id === null ? null : (found.get(id)?.username ?? id));
  return <D extends Signed>(document: D): D => ({
    ...document,
    createdBy: who(document.createdBy),
    lastUpdatedBy: who(document.lastUpdatedBy),
  });
};

/** A document with usernames in the place of its authors' ids. */
export const signed: Join<Signed> = async (doc, { model }) => (await signing(model, [doc]))(doc);

/** Makes the function that gives an author as an object by id; null for null, and for an id without an account. */
export const authorObjects = async (model: ReadModel, ids: readonly (string | null)[]) => {
  const found = await people(model, ids);
  return (id: string | null): Author | null => {
    const author = id === null ? undefined : found.get(id);
    if (!author) return null;
    const { isDeleted: _, ...shown } = author;
    return shown;
  };
};

type GroupObject = { readonly provenance: string; readonly name: string; readonly description: string };

/** Groups by name. */
export const groupsNamed = async (model: ReadModel, names: readonly string[]): Promise<ReadonlyMap<string, Group>> => {
  const distinct = [...new Set(names)];
  const ids = await Promise.all(distinct.map((name) => model.idsNamed(groups.collection, name)));
  return new Map((await documentsOf(model, groups, ids.flat())).map((group) => [group.name, group]));
};

/** Makes the function that gives group objects by name. An unknown group's object has only a name. */
export const groupObjects = async (model: ReadModel, names: readonly string[]) => {
  const found = await groupsNamed(model, names);
  return (list: readonly string[]): readonly GroupObject[] =>
    list.map((name) => {
      const { provenance = '', description = '' } = found.get(name) ?? {};
      return { provenance, name, description };
    });
};

/** Access lists with group objects in the place of names. */
export const withGroups = async (model: ReadModel, { read, write }: Gbac) => {
  const objects = await groupObjects(model, [...read, ...write]);
  return { read: objects(read), write: objects(write) };
};
