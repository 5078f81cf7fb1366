import type { Members } from '@automation-platform/json';
import { type TUnsafe, Type } from 'typebox';
import type { Authored } from '../../domain/engine/authors.ts';
import type { Actor, Aggregate, Event } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { DocumentKind } from '../../domain/engine/documentKinds.ts';
import { asideIn, type Kept, type KeptState, type keptDecisions } from '../../domain/engine/keptDocuments.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { importAuthors } from '../authorization/authors.ts';
import { type AnyCommand, type CommandOn, commandsOf, type Tools } from '../engine/define.ts';
import { importedId } from '../engine/imports.ts';
import { by, byImport, imported, type Kind, type Restorable } from '../engine/kinds.ts';

type KeptDoc = Kept & Authored & { readonly _id: string };

type KeptResource<Content extends Kept, E extends Event, Doc extends KeptDoc> = {
  readonly of: Aggregate<KeptState<Content>, E>;
  readonly documents: DocumentKind;
  readonly schema: TUnsafe<Members>;
  readonly decisions: ReturnType<typeof keptDecisions<Content, E>>;
  readonly collection: Collection<Doc, string, 'name'>;
  /** The resources that name this one by one of the names. Names that the actor may not see are replaced. */
  readonly referrersOf: (
    id: string,
    names: readonly string[],
    actor: Actor,
    tools: Tools,
  ) => Promise<readonly Referrer[]>;
  /** The lock of decisions on what names such resources, if these must be there. */
  readonly lock?: string;
  /** The lock of decisions on what the document names. */
  readonly lockOfNamed?: (document: Members) => string | undefined;
  /** The methods of operations that a document stands for. */
  readonly needs?: Restorable['needs'];
};

/** The commands on one kind of documents, and what its routes need besides. */
export type KeptCommands = {
  readonly of: Aggregate;
  /** The kind in names of operations and schemas. */
  readonly word: string;
  readonly schema: TUnsafe<Members>;
  readonly needs: Restorable['needs'];
  readonly create: CommandOn<Members>;
  readonly replace: CommandOn<Members>;
  readonly remove: AnyCommand;
  /** Imports one document of any installation. `meant` chooses the stream. */
  readonly import: CommandOn<{ readonly document: Members; readonly overwrite?: boolean }>;
  /** The id of the resource that an import creates or changes, by the rule of `importedId`. */
  readonly meant: (document: Members, fresh: string, tools: Tools) => Promise<string>;
  /** The places of its masked secrets for which nothing is stored, as JSON pointers. */
  readonly missing: (id: string, path: string, tools: Tools) => Promise<readonly string[]>;
  readonly kind: Kind;
};

/** The commands on a kind of documents that are kept with all their members (domain/engine/keptDocuments.ts). */
export const keptCommands = <Content extends Kept, E extends Event, Doc extends KeptDoc>({
  of,
  documents,
  schema,
  decisions,
  collection,
  referrersOf,
  lock,
  lockOfNamed,
  needs,
}: KeptResource<Content, E, Doc>): KeptCommands => {
  type State = KeptState<Content>;
  const word = of.category.charAt(0).toUpperCase() + of.category.slice(1);
  const command = commandsOf<State, E>(of);
  const { create, replace, importOne, remove, seal, sealImport } = decisions;
  const renames = ({ exists, content }: State, { name }: Members): boolean => exists && name !== content.name;
  const locksOf = (state: State, document: Members): readonly string[] =>
    [renames(state, document) ? lock : undefined, lockOfNamed?.(document)].filter((one) => one !== undefined);

  /** The resources that would lose this one if it got this name. */
  const referrersOfRename = async (
    { id, state, actor }: { readonly id: string; readonly state: State; readonly actor: Actor },
    document: Members,
    tools: Tools,
  ) => ({
    referrers: renames(state, document) ? await referrersOf(id, [state.content.name], actor, tools) : [],
  });

  const creation = command({ name: `create${word}`, input: schema, on: 'new', seal, decide: create, locks: locksOf });
  const replacement = command({
    name: `replace${word}`,
    input: schema,
    on: 'existing',
    seal,
    decide: replace,
    locks: locksOf,
    prepare: (request, tools) => referrersOfRename(request, request.input, tools),
  });
  const deletion = command({
    name: `delete${word}`,
    on: 'existing',
    decide: remove,
    locks: () => lock,
    prepare: async ({ id, state, actor }, tools) => ({
      referrers: await referrersOf(id, [id, state.content.name], actor, tools),
    }),
  });
  const importing = command({
    name: `import${word}`,
    input: Type.Object({ document: schema, overwrite: Type.Optional(Type.Boolean()) }),
    on: 'any',
    decide: importOne,
    seal: sealImport,
    locks: (state, { document }) => locksOf(state, document),
    prepare: async (request, tools) => ({
      ...(await referrersOfRename(request, request.input.document, tools)),
      ...(await importAuthors(
        { aggregate: of, id: request.id, documents: [asideIn(request.input.document)], ...request.input },
        tools,
      )),
    }),
  });

  const meant = (document: Members, fresh: string, tools: Tools): Promise<string> =>
    importedId(
      { aggregate: of, collection },
      { _id: asideIn(document)._id, name: String(document.name) },
      fresh,
      tools,
    );

  const kind: Kind = {
    ...imported({ documents, collection, command: importing, member: 'document', meant }),
    remove: deletion,
    restore: {
      there: by(replacement, { input: (former) => former }),
      deleted: byImport(importing, 'document', `import${word}s`),
      ...defined({ needs }),
    },
  };
  return {
    of,
    word,
    schema,
    needs,
    create: creation,
    replace: replacement,
    remove: deletion,
    import: importing,
    meant,
    missing: async (id, path, tools) => decisions.missing(await tools.state(of, id), path),
    kind,
  };
};
