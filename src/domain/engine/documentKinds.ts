import { isObject, type Members } from '@automation-platform/json';
import type { Aggregate } from './core.ts';
import type { IsSecret } from './secretFields.ts';

type Work = (value: unknown, isSecret?: IsSecret) => unknown;

/** The document with the work done at the places where it holds secrets of any JSON type. */
export type Places = (document: Members, work: Work) => Members;

/** A request that imports, lists or exports documents. `body` is JSON text. */
type DocumentRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string;
};

/** Only the import of packages has a dry run. */
export type ImportOptions = { readonly overwrite: boolean; readonly dryRun: boolean };

/** The documents within a document, with their types in packages, and the same document with new ones in their places. */
type Inner = {
  readonly of: (document: Members) => readonly { readonly type: string; readonly data: Members }[];
  readonly replace: (document: Members, inner: readonly Members[]) => Members;
};

/** A kind of documents that other installations have, too: files, packages and exports bring them. */
export type DocumentKind = {
  readonly of: Aggregate;
  /** Its name in messages. */
  readonly name: string;
  /** The types of such documents in packages; none if packages do not install them. */
  readonly types: readonly string[];
  /** The places that its import seals. */
  readonly secrets: Places;
  /** True if no other place holds secrets; else a text under the name of a secret is one wherever it stands. */
  readonly onlyThere?: true;
  /** The documents of other kinds that it holds; undefined: it holds none. */
  readonly inner?: Inner;
  /** True if a document is of this kind, by its members. */
  readonly is: (document: Members) => boolean;
  /** The request that imports a document. */
  readonly importing: (document: string, options: ImportOptions) => DocumentRequest;
  /** The path that lists the ids and names of a platform's documents; undefined if there is no such list. */
  readonly list?: string;
  /** The request that exports a document in the words of its import. */
  readonly exporting: (id: string) => DocumentRequest;
};

export const nowhere: Places = (document) => document;

/** One member of each object in a list. */
export const inItems =
  (list: string, member: string): Places =>
  (document, work) => {
    const items = document[list];
    if (!Array.isArray(items)) return document;
    return {
      ...document,
      [list]: items.map((item) => (item?.[member] === undefined ? item : { ...item, [member]: work(item[member]) })),
    };
  };

export const hasAny = (document: Members, ...names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(document, name));

export const isListOf = (value: unknown, member: string): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one) && hasAny(one, member));

/** Imports by a list in a member of the body. */
export const listOf =
  (method: 'POST' | 'PUT', path: string, member: string): DocumentKind['importing'] =>
  (document, { overwrite }) => ({
    method,
    path,
    body: `{${JSON.stringify(member)}:[${document}],"overwrite":${overwrite}}`,
  });

/** The list of a collection, and the export of each of its documents; `items`: the path of these, if it is another. */
export const at = (list: string, items = list): Pick<DocumentKind, 'list' | 'exporting'> => ({
  list,
  exporting: (id) => ({ method: 'GET', path: `${items}/${encodeURIComponent(id)}/export?as=imported` }),
});
