import { exactEntries, exactText, inOrder, isObject, type Members, step } from '@automation-platform/json';
import { Type } from 'typebox';
import { authored, authoredByPeople, authorsOf, type ImportAuthors, objectId, signatureMembers } from './authors.ts';
import { same } from './changes.ts';
import type { Context, Event } from './core.ts';
import { defined } from './defined.ts';
import { type Imported, importedIn, sameRest, withoutContent } from './importedDocuments.ts';
import { asWritten, ifItFits, partsBy } from './lenientSchemas.ts';
import { type Referrer, refuseReferred } from './references.ts';
import { RequestError } from './requestError.ts';
import { type IsSecret, mask, type Seal, sealBy } from './secretFields.ts';

/*
 * Resources that are documents of other programs: all their members are kept, in their order. The service adds id, times
 * and authors, and faults where it shows one. A request may have these, as copies do: they are ignored.
 */

/** A document without id, times and authors. It may have the marks of packages/json. */
export type Kept = Members & { readonly name: string };

export type KeptState<Content extends Kept> = {
  readonly exists: boolean;
  readonly content: Content;
  /** The last import; undefined if the document was written here since, or there was none. */
  readonly imported?: Imported<Content>;
};

/** Members around a document, in requests and in events. */
const around: readonly string[] = ['_id', ...signatureMembers, 'faults', 'warnings', 'imported'];
const isInside = ([name]: readonly [string, unknown]): boolean => !around.includes(name);

/** The document in the data of an event. Its mark of order names the members of the document alone. */
export const keptIn = <Content extends Kept>(data: Members): Content =>
  Object.fromEntries(Object.entries(data).filter(isInside)) as Content;

/** The document in a request. */
const documentIn = (whole: Members): Members => inOrder(exactEntries(whole).filter(isInside));

/** The document with members of the service around it. */
export const keptWith = (id: string, content: Members, more: Members): Members =>
  inOrder([['_id', id], ...exactEntries(content), ...Object.entries(more)]);

/** The effects of the four topics of such a document. */
export const keptEvolve = <Content extends Kept>() => ({
  become: (_: KeptState<Content>, data: Members): KeptState<Content> => ({ exists: true, content: keptIn(data) }),
  restore: (_: KeptState<Content>, data: Members & { readonly imported?: Members }): KeptState<Content> => {
    const content = keptIn<Content>(data);
    return { exists: true, content, ...importedIn(data, content) };
  },
  end: ({ content }: KeptState<Content>): KeptState<Content> => ({ exists: false, content }),
});

/** A method that a document takes of who saves it, because one of its tasks stands for that operation. */
export type NeededMethod = { readonly task: string; readonly area: string; readonly method: string };

/** The data that decisions on such documents need: of a rename or deletion, the resources that it would break. */
export type KeptRefs = { readonly referrers: readonly Referrer[] };

const aside = partsBy(
  Type.Object(
    {
      _id: Type.Optional({ ...objectId('Id'), [ifItFits]: true }),
      ...authoredByPeople,
      created: Type.Optional({ ...authored.created, [ifItFits]: true }),
      lastUpdated: Type.Optional({ ...authored.lastUpdated, [ifItFits]: true }),
      createdBy: { ...authoredByPeople.createdBy, [ifItFits]: true },
      lastUpdatedBy: { ...authoredByPeople.lastUpdatedBy, [ifItFits]: true },
    },
    { additionalProperties: false },
  ),
);

/** Id, times and authors of an imported document. Those of another form count as missing; they are kept as they are. */
export const asideIn = (document: Members): ReturnType<typeof aside>['known'] =>
  aside(Object.fromEntries(Object.entries(document).filter(([name]) => around.includes(name)))).known;

/** All members are known: an import is the same if the document is. */
const parts = partsBy({ ...Type.Unknown(), [asWritten]: true });

type Importing = { readonly document: Members; readonly overwrite?: boolean };

/** A kind of such documents. `read` throws `invalid` for one of another form; `secrets` says where one has secrets. */
type KeptKind = {
  readonly name: string;
  readonly read: (document: Members) => void;
  readonly secrets: (document: Members) => IsSecret;
};

/** The decisions on a kind of such documents. Those on changes store no event if nothing changes. */
export const keptDecisions = <Content extends Kept, E extends Event>({ name, read, secrets }: KeptKind) => {
  type State = KeptState<Content>;
  const event = (what: string, data: Members): E => ({ topic: `${name}${what}`, data }) as Event as E; // of these topics
  const contentOf = (document: Members): Content => {
    read(document);
    return documentIn(document) as Content;
  };
  const refuseRename = ({ exists, content }: State, next: Content, { referrers }: KeptRefs): void => {
    if (exists && next.name !== content.name) refuseReferred(referrers, 'renamed');
  };
  return {
    /** The document with sealed secrets. The mask keeps those that are stored, and must not stand elsewhere. */
    seal: (value: Members, { content }: State, seal: Seal): Members =>
      sealBy(secrets(value), { value, befores: [content], seal, path: '', keepsEqual: true }) as Members,
    /** Likewise of an import. The mask keeps those of the installed package, too, and may stand elsewhere. */
    sealImport: <I extends Importing>(input: I, { content }: State, seal: Seal, before: readonly Importing[]): I => ({
      ...input,
      document: sealBy(secrets(input.document), {
        value: input.document,
        befores: [...before.map(({ document }) => document), content],
        seal,
        path: '',
        keepsEqual: false,
        keepsMask: true,
      }) as Members,
    }),
    /** The places of the masked secrets for which nothing is stored, as JSON pointers. */
    missing: ({ content }: State, path: string): readonly string[] => masksIn(content, secrets(content), path),
    create: (_: State, document: Members): readonly E[] => [event('Created', contentOf(document))],
    replace: (state: State, document: Members, { refs }: Context<KeptRefs>): readonly E[] => {
      const next = contentOf(document);
      refuseRename(state, next, refs);
      return exactText(next) === exactText(state.content) ? [] : [event('Replaced', next)];
    },
    /** Imports a document with its times and authors, into its own stream or that of the resource with its name. */
    importOne: (
      state: State,
      { document, overwrite = false }: Importing,
      context: Context<KeptRefs & ImportAuthors>,
    ): readonly E[] => {
      const { exists, content, imported } = state;
      const { refs, id } = context;
      const next = contentOf(document);
      const about = asideIn(document);
      const own = [id, imported && asideIn(imported.document)._id].includes(about._id ?? id);
      const alike = same(next, content) && sameRest(document, defined({ imported, content }), parts, refs);
      if (exists && (own || overwrite) && alike) return [];
      if (exists && !overwrite)
        throw own
          ? new RequestError('conflict', `A ${name} with this id exists with other content`, { path: '/_id' })
          : new RequestError('conflict', `Another ${name} has this name`, { path: '/name' });
      refuseRename(state, next, refs);
      const authors = authorsOf(about, refs.accounts, context);
      return [event('Restored', { ...next, ...authors, imported: withoutContent(document, next) })];
    },
    remove: (_: State, __: unknown, { refs }: Context<KeptRefs>): readonly E[] => {
      refuseReferred(refs.referrers, 'deleted');
      return [event('Deleted', {})];
    },
  };
};

const masksIn = (value: unknown, isSecret: IsSecret, path: string): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((item, i) => masksIn(item, isSecret, path + step(i)));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (isSecret(name, value)) return member === mask ? [path + step(name)] : [];
    return masksIn(member, isSecret, path + step(name));
  });
};
