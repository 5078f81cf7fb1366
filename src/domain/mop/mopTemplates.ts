import type { Members } from '@automation-platform/json';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { type Authored, authoredByPeople, authorsOf, type ImportAuthors, type Person } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import type { Context, Event, Followed, SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type DocumentKind, nowhere } from '../engine/documentKinds.ts';
import { type Imported, sameRest, withoutContent } from '../engine/importedDocuments.ts';
import { sealDocument } from '../engine/importedSecrets.ts';
import { ifItFits, lenient, type Parts, partsBy } from '../engine/lenientSchemas.ts';
import { followsProject, namespaceSchema } from '../engine/namespaces.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { maskSecrets, type Seal } from '../engine/secretFields.ts';
import { anything, flag, text, typed } from '../engine/topics.ts';

/** The fields that both kinds of templates share in events, with defaults. */
export const headerInEvents = {
  name: text,
  description: typed<string>()(anything),
  os: typed<string>()(anything),
  passRule: flag,
  namespace: typed<Static<typeof namespaceSchema> | null>()(anything),
};
export type Header = SchemaData<TObject<typeof headerInEvents>>;

/** True: all must pass (the default); false: one is enough. */
export const passRule = (of: string) =>
  Type.Optional(Type.Boolean({ default: true, description: `true: all ${of} must pass; false: one is enough` }));
export const severity = Type.Optional(
  Type.Enum(['error', 'warning', 'info'], { default: 'error', description: 'Only errors fail', [ifItFits]: true }),
);

const header = {
  name: name('Name, unique among templates of its kind'),
  description: Type.Optional(Type.String({ maxLength: 10_000, description: 'Its purpose' })),
  os: Type.Optional(Type.String({ maxLength: 256, description: 'Operating system of the devices that it is for' })),
  passRule: passRule('commands'),
  namespace: Type.Optional(
    Type.Union([Type.Null(), namespaceSchema], { description: 'The project that it belongs to' }),
  ),
};
const { description } = header;
const nullable = {
  description: Type.Optional(Type.Union([description, Type.Null()], { description: 'Its purpose' })),
};
export type HeaderInput = { readonly name: string; readonly description?: string | null } & {
  readonly [M in Exclude<keyof Header, 'name' | 'description'>]?: Header[M];
};

export const headerOf = ({ name, description, os = '', passRule = true, namespace = null }: HeaderInput): Header => ({
  name,
  description: description ?? '',
  os,
  passRule,
  namespace,
});

// The maximum is the end of the year 9999, the last year of four digits.
const milliseconds = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 253_402_300_799_999, description: `${description}, epoch milliseconds` }),
  );
const author = (description: string) => Type.Optional(Type.Union([Type.Null(), Type.String()], { description }));
const bookkeeping = {
  _id: Type.Optional(name('Id')),
  created: milliseconds('When it was made'),
  createdBy: author('The account that created it'),
  lastUpdated: milliseconds('When it was last changed'),
  lastUpdatedBy: author('The account that changed it last'),
};
/** Members that programs for other platforms send. */
const ofOthers = {
  ignoreWarnings: Type.Optional(Type.Boolean({ description: 'Means nothing here, and is not kept' })),
  tags: Type.Optional(
    Type.Union([Type.Null(), Type.Array(Type.Unknown(), { maxItems: 1000 })], {
      description: 'Mean nothing here, and are not kept',
    }),
  ),
};
export type Bookkeeping = {
  readonly _id?: string;
  readonly created?: number;
  readonly createdBy?: Person;
  readonly lastUpdated?: number;
  readonly lastUpdatedBy?: Person;
};

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * The schemas of a kind of template: `fresh` for create requests, `document` for answers, `change` for changes, `imported`
 * for imports. `parts` takes an imported document apart.
 */
export const templateSchemas = <P extends TProperties>(title: string, description: string, commands: P) => {
  const { createdBy, lastUpdatedBy } = authoredByPeople;
  const strict = Type.Object(
    { ...bookkeeping, createdBy, lastUpdatedBy, ...header, ...nullable, ...commands },
    {
      additionalProperties: false,
      title: `Imported${title}`,
      description: `${capitalized(description)} of any installation`,
    },
  );
  return {
    fresh: Type.Object(
      { ...bookkeeping, ...ofOthers, ...header, ...nullable, ...commands },
      { additionalProperties: false, title: `New${title}`, description: `New ${description}` },
    ),
    document: Type.Object(
      { ...bookkeeping, ...header, ...commands },
      { additionalProperties: false, title, description: capitalized(description) },
    ),
    change: Type.Object(
      { ...bookkeeping, ...ofOthers, ...header, ...commands },
      {
        additionalProperties: false,
        title: `Changed${title}`,
        description: `${capitalized(description)} after a change`,
      },
    ),
    imported: lenient(strict),
    parts: partsBy(strict),
  };
};

export type TemplateState<C> = {
  readonly exists: boolean;
  readonly content?: C;
  readonly imported?: Imported<C>;
  /** The name of one that was deleted. */
  readonly formerName?: string | undefined;
};

/** The topics begin with the kind. */
type TemplateEvent<K extends string, C> =
  | Event<`${K}Created`, C>
  | Event<`${K}Changed`, Partial<C>>
  /** Set to the content of an imported document, with its times and authors. */
  | Event<`${K}Restored`, C & Authored & { readonly imported?: Members }>
  | Event<`${K}Deleted`, Record<string, never>>;

/** The data that decisions on a template need. */
export type TemplateRefs = Partial<ImportAuthors> & {
  /** The patterns that cannot be used. `path` starts at the template. */
  readonly patternFaults?: readonly Fault[];
  /** The resources that refer to the template by its present name. */
  readonly referrers?: readonly Referrer[];
};

type Importing = { readonly template: Members; readonly overwrite?: boolean };

/** The import with sealed secrets. The mask keeps those of the last import, and of the installed package. */
export const sealImported = <I extends Importing>(
  input: I,
  { imported }: TemplateState<unknown>,
  seal: Seal,
  present: readonly Importing[],
): I => ({
  ...input,
  template: sealDocument(input.template, [...present.map(({ template }) => template), imported?.document], seal),
});

type Kind<K extends string, D, C> = {
  readonly kind: K;
  /** The member of requests that holds the template. */
  readonly word: string;
  /** The content of a document, with defaults. */
  readonly contentOf: (document: D) => C;
  /** The faults of the content, besides those of its patterns. */
  readonly faultsIn: (content: C) => readonly Fault[];
  /** Takes an imported document apart. */
  readonly parts: (document: unknown) => Parts<D>;
};

/** The content after a change. A namespace as the service shows it is no change: secrets in it are masked there. */
const keepingSecrets = <C extends Header>(before: C | undefined, after: C): C =>
  before && same(after.namespace, maskSecrets(before.namespace)) ? { ...after, namespace: before.namespace } : after;

const refuseRenamed = (before: Header | undefined, after: Header, { refs }: Context<TemplateRefs>): void => {
  if (before && before.name !== after.name) refuseReferred(refs.referrers ?? [], 'renamed');
};

/** The decisions on a kind of template. */
export const templateDecisions = <K extends string, D extends HeaderInput & Bookkeeping, C extends Header>({
  kind,
  word,
  contentOf,
  faultsIn,
  parts,
}: Kind<K, D, C>) => {
  type State = TemplateState<C>;
  type Refs = Context<TemplateRefs>;
  const event = (what: 'Created' | 'Changed' | 'Restored' | 'Deleted', data: unknown) => [
    { topic: `${kind}${what}`, data } as TemplateEvent<K, C>,
  ];

  const documentIn = (input: Readonly<Record<string, D>>): D => input[word]!; // required by the command's schema
  const checked = (document: D, member: string, { refs }: Refs): C => {
    const content = contentOf(document);
    const faults = [...faultsIn(content), ...(refs.patternFaults ?? [])]
      .slice(0, 20)
      .map(({ path, ...fault }) => ({ ...fault, path: `/${member}${path}` }));
    if (faults[0]) throw new RequestError('invalid', faults[0].message, { faults });
    return content;
  };

  return {
    create: (_: State, input: Readonly<Record<string, D>>, context: Refs) =>
      event('Created', checked(documentIn(input), word, context)),

    /** Replaces the content. Id, times and authors in the document belong to the service and change nothing. */
    change: ({ content: before }: State, input: Readonly<Record<string, D>>, context: Refs) => {
      const document = documentIn(input);
      if (document._id !== undefined && document._id !== context.id)
        throw new RequestError('invalid', 'The template in the path has another id', { path: `/${word}/_id` });
      const after = keepingSecrets(before, checked(document, word, context));
      const changes = changesBetween(before!, after); // only for existing templates
      if (!changes) return [];
      refuseRenamed(before, after, context);
      return event('Changed', changes.changed);
    },

    /**
     * Imports a document of any installation, with its times and authors. A rule that no run can use is kept: a run says
     * what is wrong with it.
     */
    importOne: ({ exists, content, imported }: State, { template, overwrite = false }: Importing, context: Refs) => {
      const { known } = parts(template);
      const newContent = contentOf(known);
      const { accounts = {}, signature } = context.refs;
      const stored = defined({ imported, content });
      if (exists && same(newContent, content) && sameRest(template, stored, parts, { accounts, signature })) return [];
      if (exists && !overwrite)
        throw new RequestError('conflict', 'A template with this id or name exists with other content', {
          path: '/template',
        });
      if (exists) refuseRenamed(content, newContent, context);
      return event('Restored', {
        ...newContent,
        ...authorsOf(inIso(known), accounts, context),
        imported: withoutContent(template, newContent),
      });
    },

    remove: (_: State, __: unknown, { refs }: Refs) => {
      refuseReferred(refs.referrers ?? [], 'deleted');
      return event('Deleted', {});
    },
  };
};

const inIso = ({ created, lastUpdated, createdBy, lastUpdatedBy }: Bookkeeping) => ({
  ...defined({
    created: isoOf(created),
    lastUpdated: isoOf(lastUpdated),
    createdBy,
    lastUpdatedBy,
  }),
});

const isoOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/** The unique name of a template, among its kind. */
export const templateNames =
  (kind: string) =>
  ({ exists, content }: TemplateState<Header>) =>
    exists && content ? [{ kind, name: content.name }] : [];

const lastName = ({ content, formerName }: TemplateState<Header>): string | undefined => content?.name ?? formerName;

export const deletedTemplate = (state: TemplateState<Header>) => ({ exists: false, formerName: lastName(state) });

export const followedByTemplate = (state: TemplateState<Header>): Followed | undefined =>
  followsProject(lastName(state));

export const atMost = <S extends TSchema>(maxItems: number, items: S, description: string) =>
  Type.Optional(Type.Array(items, { maxItems, description }));

/** The members that both kinds of templates have in common as documents of any installation. */
export const templateDocuments = (
  type: string,
  list: string,
): Pick<DocumentKind, 'secrets' | 'importing' | 'list' | 'exporting'> => ({
  secrets: nowhere,
  list,
  importing: (document, { overwrite }) => ({
    method: 'POST',
    path: '/mop/import',
    body: `{"type":"${type}","template":${document},"overwrite":${overwrite}}`,
  }),
  exporting: (_id) => ({
    method: 'POST',
    path: '/mop/export',
    body: JSON.stringify({ type, options: { _id, as: 'imported' } }),
  }),
});
