import { checker } from '@automation-platform/bounded-schemas';
import { plainValue } from '@automation-platform/json';
import { type TObject, Type } from 'typebox';
import { groupsIn } from '../../domain/authorization/gbac.ts';
import type { Context, Event } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { HeldType } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { scheduledJobs } from '../../projections/automation-catalog/scheduledJobs.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { analyticTemplates } from '../../projections/mop/analyticTemplates.ts';
import { commandTemplates } from '../../projections/mop/commandTemplates.ts';
import { templates } from '../../projections/template-builder/templates.ts';
import { importScheduledJob, scheduledJobMeant } from '../automation-catalog/scheduledJobImports.ts';
import { importTree, treeMeant } from '../configuration-manager/trees.ts';
import { type AnyCommand, commandsOf, type Tools } from '../engine/define.ts';
import { importedId } from '../engine/imports.ts';
import { formMeant, importForm } from '../json-forms/forms.ts';
import { importAnalyticTemplate } from '../mop/analyticTemplates.ts';
import { importCommandTemplate } from '../mop/commandTemplates.ts';
import { importTemplate, templateMeant } from '../template-builder/templates.ts';

type Document = Readonly<Record<string, any>>; // only the import command knows its type

/** A kind of document in packages, other than automations. */
export type Kind = {
  readonly types: readonly string[];
  readonly collection: Collection;
  /** The id of the document that has the name. */
  readonly holder: (name: string, tools: Tools) => Promise<string | undefined>;
  /** The command that imports one such document. */
  readonly command: AnyCommand;
  /** The field of the command's input that holds the document. */
  readonly member: string;
  /** Throws `invalid` for a document that does not fit the schema of imports. */
  readonly check: (document: unknown) => void;
  /** The prefix of paths in the command's errors that stands for the document. */
  readonly inside: string;
  /** The command that stores the document as part of a package. It always stores an event. */
  readonly restore: AnyCommand;
  /**
   * The id of the resource that an import creates or changes; `fresh` if the document has no id and its name is free.
   */
  readonly meant: (document: any, fresh: string, tools: Tools) => Promise<string>; // as for Document
};

/** The input of a `restore` command. `at` is the time of the import. */
export type Restored = {
  readonly document: Document;
  readonly accounts: Readonly<Record<string, string>>;
  readonly at: string;
};

/**
 * The `restore` command for an import command. It decides as if the stream were empty, so it rejects only malformed
 * documents.
 */
const restoring = (command: AnyCommand, member: string): AnyCommand =>
  commandsOf<unknown, Event>(command.aggregate)({
    name: command.name.replace('import', 'restore'),
    input: Type.Unsafe<Restored>({}),
    on: 'any',
    // Sealed secrets stay as they are. Packages of earlier versions have secrets in clear.
    seal: ({ document, ...rest }, _, seal) => ({
      ...rest,
      document: command.seal
        ? command.seal({ [member]: document }, command.aggregate.initial, seal, [{ [member]: document }])[member]
        : document,
    }),
    decide: (_, { document, accounts, at }, context: Context) =>
      command.decide(
        command.aggregate.initial,
        { [member]: document },
        { ...context, now: at, refs: { accounts, referrers: [], nodeReferrers: [] } },
      ),
  });

/** The id of the first document that has the value in the filter field. */
export const holderOf = async <Doc extends { readonly _id: string }, Filter extends string>(
  collection: Collection<Doc, string, Filter>,
  field: NoInfer<Filter>,
  value: string,
  { query }: Tools,
): Promise<string | undefined> => (await query(collection, { field, op: 'equals', value }))[0]?._id;

/** The check of one document by the command that imports it. */
export const documentCheck = ({ input }: AnyCommand, member: string, inside = ''): Kind['check'] => {
  const check = once(() => checker((input as TObject).properties[member]!)); // the member holds the document
  return (document) => {
    const [first, ...others] = check()(plainValue(document));
    if (!first) return;
    throw new RequestError('invalid', `The document is not valid: ${first.path || 'it'} ${first.message}`, {
      faults: [first, ...others].map((fault) => ({ ...fault, path: inside + fault.path })),
    });
  };
};

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

type Importing<Doc> = Pick<Kind, 'command' | 'member'> & {
  readonly types: readonly HeldType[];
  readonly collection: Collection<Doc, string, 'name'>;
  readonly inside?: string;
  /** The rule of `importedId`, unless given. */
  readonly meant?: Kind['meant'];
  /** Throws for a document that no package may have. */
  readonly refuse?: (document: Document) => void;
};

/** Everybody who reads a package reads its scheduled jobs. */
const refuseLists = ({ data: { gbac = {} } }: Document): void => {
  if (groupsIn(gbac).length > 0)
    throw new RequestError(
      'invalid',
      'A scheduled job with access lists comes in by its own import: packages have none',
      {
        path: '/data/gbac',
      },
    );
};

const kind = <Doc extends { readonly _id: string }>({
  types,
  collection,
  command,
  member,
  inside = '',
  refuse,
  meant = (document, fresh, tools) => importedId({ aggregate: command.aggregate, collection }, document, fresh, tools),
}: Importing<Doc>): Kind => {
  const check = documentCheck(command, member, inside);
  return {
    types,
    collection,
    holder: (name, tools) => holderOf(collection, 'name', name, tools),
    command,
    member,
    check: (document) => {
      check(document);
      refuse?.(document as Document);
    },
    inside,
    restore: restoring(command, member),
    meant,
  };
};

/** In the order of the installation: kinds that others refer to come first. Automations follow after all of these. */
export const kinds: readonly Kind[] = [
  kind({
    types: ['forms', 'json-forms'],
    collection: forms,
    command: importForm,
    member: 'form',
    meant: formMeant,
  }),
  kind({
    types: ['template'],
    collection: templates,
    command: importTemplate,
    member: 'template',
    meant: templateMeant,
  }),
  kind({
    types: ['mop-template'],
    collection: commandTemplates,
    command: importCommandTemplate,
    member: 'template',
    inside: '/template',
  }),
  kind({
    types: ['mop-analytic-template'],
    collection: analyticTemplates,
    command: importAnalyticTemplate,
    member: 'template',
    inside: '/template',
  }),
  kind({ types: ['golden-config'], collection: trees, command: importTree, member: 'tree', meant: treeMeant }),
  kind({
    types: ['ac-agenda-job'],
    collection: scheduledJobs,
    command: importScheduledJob,
    member: 'job',
    meant: scheduledJobMeant,
    refuse: refuseLists,
  }),
];

export const kindOf = (category: string): Kind | undefined =>
  kinds.find(({ command }) => command.aggregate.category === category);
