import { checker } from '@automation-platform/bounded-schemas';
import { isObject, type Members, plainValue } from '@automation-platform/json';
import { type TObject, type TSchema, Type } from 'typebox';
import { signatureMembers } from '../../domain/engine/authors.ts';
import type { Aggregate, Context, Event } from '../../domain/engine/core.ts';
import type { DocumentKind } from '../../domain/engine/documentKinds.ts';
import type { NeededMethod } from '../../domain/engine/keptDocuments.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { type AnyCommand, commandsOf, type Tools } from './define.ts';
import { importedId } from './imports.ts';

/** The work of the platform with resources of one kind, besides its routes. The tables of kinds follow from these records. */
export type Kind = {
  readonly of: Aggregate;
  /** How documents of any installation come in. */
  readonly imports?: Imports;
  /** The command that carries out the part of a decision on several resources. It always stores an event. */
  readonly part?: AnyCommand;
  /** The command that deletes a resource, unless another one names it. */
  readonly remove?: AnyCommand;
  /** How a resource becomes again what it was; undefined: never. */
  readonly restore?: Restorable;
};

type Document = Readonly<Record<string, any>>; // only the import command knows its type

/** How one document is imported. */
export type Imports = {
  readonly documents: DocumentKind;
  readonly collection: Collection<never, string, 'name'>;
  readonly command: AnyCommand;
  /** The field of the command's input that holds the document. */
  readonly member: string;
  /** The prefix of paths in the command's errors that stands for the document. */
  readonly inside: string;
  /** Throws `invalid` for a document that does not fit the schema of imports. */
  readonly check: (document: unknown) => void;
  /** The id of the document that has the name. */
  readonly holder: (name: string, tools: Tools) => Promise<string | undefined>;
  /**
   * The id of the resource that an import creates or changes; `fresh` if the document has no id and its name is free.
   */
  readonly meant: (document: any, fresh: string, tools: Tools) => Promise<string>; // as for Document
};

/** A command that gives a resource a former content. */
export type Restoring = {
  readonly command: AnyCommand;
  /** The route whose callers may do this, unless the command has a route of its own. */
  readonly method?: string;
  /** Another route that they must be allowed to call. */
  readonly also?: string;
  /**
   * The command's input for the former document and, of an import, who made it and when. `present`: the document as of
   * now, if there is one.
   */
  readonly input: (former: Members, present: Members | undefined) => unknown;
  /** True of an import, which takes what the service does not know, too. */
  readonly imports?: boolean;
  /**
   * True if a changed document comes with all its secrets in clear: the command finds those that are there by other
   * means than their place.
   */
  readonly inClear?: boolean;
};

/** How resources of a kind are restored. */
export type Restorable = {
  /** Those that are there. */
  readonly there: Restoring;
  /** Those that were deleted since. */
  readonly deleted: Restoring;
  /** The methods, of areas, without which nobody may give a resource this content; `task`: where it says so. */
  readonly needs?: (document: Members) => readonly NeededMethod[];
  /** Members that only the state has. */
  readonly more?: (state: any) => Members; // the state of a stream is that of its aggregate
  /** The former document of an import, if only the state has all of it; its secrets are sealed. */
  readonly whole?: (state: any, document: Members) => Members; // likewise
  /** Documents of another kind that come back with one that was deleted: those whose `field` names it. */
  readonly parts?: { readonly kind: string; readonly field: string; readonly member: string };
};

const ids = ['_id', 'id', ...signatureMembers];

/** The members of a document that a schema names, but for ids, times and authors. */
export const picked = ({ properties }: Pick<TObject, 'properties'>, former: Members): Members =>
  Object.fromEntries(
    Object.keys(properties).flatMap((name) =>
      Object.hasOwn(former, name) && former[name] !== undefined && !ids.includes(name) ? [[name, former[name]]] : [],
    ),
  );

/** The input of a command that takes a document, or holds it in its only member. */
const inputFrom = (input: TSchema, former: Members): unknown => {
  const { properties } = input as TObject; // the input of every command is an object
  const [[member, held] = [], ...others] = Object.entries(properties);
  if (member === undefined || others.length > 0 || !isObject((held as Partial<TObject>).properties))
    return picked({ properties }, former);
  return { [member]: picked(held as TObject, former) };
};

/** By the command that changes or makes such a resource. */
export const by = (command: AnyCommand, special: Partial<Restoring> = {}): Restoring => ({
  command,
  input: (former) => inputFrom(command.input, former),
  ...special,
});

/** By an import of the whole document. */
export const byImport = (command: AnyCommand, member: string, method: string): Restoring => ({
  command,
  method,
  input: (former) => ({ [member]: former, overwrite: true }),
  imports: true,
});

/** By making it anew. One that is there cannot change: it says what it always said. */
export const anew = (command: AnyCommand): Restorable =>
  always(
    by({
      ...command,
      on: 'any',
      decide: (state, ...rest) => (command.aggregate.exists(state) ? [] : command.decide(state, ...rest)),
    }),
  );

/** By the same command, whether it is there or not. */
export const always = (restoring: Restoring): Restorable => ({ there: restoring, deleted: restoring });

/** The command for a part of a decision on several resources. It rejects nothing. */
export const partCommand = <State, E extends Event, Input>(
  aggregate: Aggregate<State, E>,
  decide: (state: State, input: Input, context: Context<undefined>) => readonly E[],
): AnyCommand =>
  commandsOf<State, E>(aggregate)({
    name: `restore ${aggregate.category}`,
    input: Type.Unsafe<Input>({}),
    on: 'any',
    decide: (state, input, context) => decide(state, input as Input, context),
  });

/** The input for the part of a package: a document, whose authors are `accounts`, and the time of the import. */
export type PartOfPackage = {
  readonly document: Document;
  readonly accounts: Readonly<Record<string, string>>;
  readonly at: string;
};

/** Decides an import as if the stream were empty, so it rejects only malformed documents. */
const partOfPackage = (command: AnyCommand, member: string): AnyCommand => ({
  ...partCommand(command.aggregate, (_, { document, accounts, at }: PartOfPackage, context) =>
    command.decide(
      command.aggregate.initial,
      { [member]: document },
      { ...context, now: at, refs: { accounts, referrers: [], nodeReferrers: [] } },
    ),
  ),
  // Sealed secrets stay as they are. Packages of earlier versions have secrets in clear.
  seal: ({ document, ...rest }: PartOfPackage, _, seal) => ({
    ...rest,
    document: command.seal
      ? command.seal({ [member]: document }, command.aggregate.initial, seal, [{ [member]: document }])[member]
      : document,
  }),
});

/** The id of the first document that has the value in the filter field. */
export const holderOf = async <Doc extends { readonly _id: string }, Filter extends string>(
  collection: Collection<Doc, string, Filter>,
  field: NoInfer<Filter>,
  value: string,
  { query }: Tools,
): Promise<string | undefined> => (await query(collection, { field, op: 'equals', value }))[0]?._id;

/** The check of one document by the command that imports it. */
export const documentCheck =
  ({ input }: AnyCommand, member: string, inside: string): Imports['check'] =>
  (document) => {
    const check = checker((input as TObject).properties[member]!); // the member holds the document
    const [first, ...others] = check(plainValue(document));
    if (!first) return;
    throw new RequestError('invalid', `The document is not valid: ${first.path || 'it'} ${first.message}`, {
      faults: [first, ...others].map((fault) => ({ ...fault, path: inside + fault.path })),
    });
  };

type Importing<Doc> = Pick<Imports, 'documents' | 'command' | 'member'> & {
  readonly collection: Collection<Doc, string, 'name'>;
  readonly inside?: string;
  /** The rule of `importedId`, unless given. */
  readonly meant?: Imports['meant'];
  /** Throws for a document that no package may have. */
  readonly refuse?: (document: Document) => void;
};

/** The import of a kind, and its part of a package. */
export const imported = <Doc extends { readonly _id: string }>({
  documents,
  collection,
  command,
  member,
  inside = '',
  refuse,
  meant = (document, fresh, tools) => importedId({ aggregate: documents.of, collection }, document, fresh, tools),
}: Importing<Doc>): Required<Pick<Kind, 'of' | 'imports' | 'part'>> => {
  const check = documentCheck(command, member, inside);
  return {
    of: documents.of,
    imports: {
      documents,
      collection,
      command,
      member,
      inside,
      check: (document) => {
        check(document);
        refuse?.(document as Document);
      },
      holder: (name, tools) => holderOf(collection, 'name', name, tools),
      meant,
    },
    part: partOfPackage(command, member),
  };
};
