import { type Static, Type } from 'typebox';
import { authorsOf, type ImportAuthors } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, listOf } from '../engine/documentKinds.ts';
import { type Imported, importedIn, sameRest, withoutContent } from '../engine/importedDocuments.ts';
import { missingSecrets, sealDocument } from '../engine/importedSecrets.ts';
import { followsProject } from '../engine/namespaces.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskNamed, maskSecrets, type Seal, sealImported, sealSecrets } from '../engine/secretFields.ts';
import { anything, nothing, restoredAs, text, topicsOf, typed } from '../engine/topics.ts';
import {
  isTemplateType,
  type newTemplateSchema,
  type TemplateContent,
  type TemplateDocument,
  templateParts,
  type templatePatchSchema,
} from './templateSchemas.ts';

const content = {
  name: text,
  type: text,
  template: text,
  description: text,
  command: text,
  data: typed<TemplateContent['data']>()(anything),
  group: text,
  tags: Type.Array(anything),
};

const topics = topicsOf({
  templateCreated: ['A template was created', Type.Object(content)],
  templateChanged: ['Members of a template changed', Type.Partial(Type.Object(content))],
  templateRestored: restoredAs('A template', content),
  templateDeleted: ['A template was deleted', nothing],
});
export type TemplateEvent = EventOf<typeof topics>;

const contentIn = ({
  name,
  type,
  template,
  description,
  command,
  data,
  group,
  tags,
}: TemplateContent): TemplateContent => ({ name, type, template, description, command, data, group, tags });
const contentOf = (content: Pick<TemplateContent, 'name' | 'template'> & Partial<TemplateContent>): TemplateContent =>
  contentIn({ type: 'jinja2', description: '', command: '', data: null, group: '', tags: [], ...content });

export type TemplateState = {
  readonly exists: boolean;
  readonly content: TemplateContent;
  /** The last import; undefined if there was none. */
  readonly imported?: Imported<TemplateContent>;
};

export const template = aggregate<TemplateState, TemplateEvent>({
  area: 'template-builder',
  category: 'template',
  topics,
  initial: { exists: false, content: contentOf({ name: '', template: '' }) },
  evolve: {
    templateCreated: (_, content) => ({ exists: true, content }),
    templateChanged: (state, changed) => ({ ...state, content: { ...state.content, ...changed } }),
    templateRestored: (_, { imported, ...data }) => {
      const content = contentIn(data);
      return { exists: true, content, ...importedIn(defined({ imported }), content) };
    },
    templateDeleted: ({ content }) => ({ exists: false, content }),
  },
  names: ({ exists, content }) => (exists ? [{ kind: 'template', name: content.name }] : []),
  follows: ({ content }) => followsProject(content.name),
});

type WithData = { readonly data?: TemplateContent['data'] };

/** The request with sealed secrets in its sample data. The mask keeps the template's secrets. */
export const sealData = <T extends WithData>(given: T, { content }: TemplateState, seal: Seal): T =>
  given.data === undefined ? given : { ...given, data: sealSecrets(given.data, content.data, seal, '/data') };

/**
 * Like `sealData`, for an imported document. The mask keeps the secrets of `present`, of the present sample data and of the
 * last import.
 */
export const sealTemplate = (
  document: TemplateDocument,
  { content, imported }: TemplateState,
  present: readonly TemplateDocument[],
  seal: Seal,
): TemplateDocument => {
  const befores = [...present.map(({ data }) => data), content.data];
  const { data } = document;
  const withData =
    data === undefined
      ? document
      : { ...document, data: sealImported(data, befores, seal, '/data') as TemplateContent['data'] };
  return sealDocument(withData, [...present, imported?.document].map(withoutData), seal);
};

/** The places of the masked secrets for which nothing is stored. The sample data may have changed since the import. */
export const missingInTemplate = ({ imported, content }: TemplateState, path: string): readonly string[] =>
  missingSecrets({ ...imported?.document, data: content.data }, path);

const withoutData = (document: object | undefined): object => ({ ...document, data: undefined });

/**
 * The template for answers: secrets in its sample data are masked, even those that an earlier version stored in clear.
 */
export const maskTemplate = <T extends WithData>(template: T): T =>
  maskSecrets(template.data === undefined ? template : { ...template, data: maskNamed(template.data) }) as T;

/** The automations that have the template as their component. For a rename: those that name it by its old name. */
export type TemplateRefs = { readonly referrers: readonly Referrer[] };

export const create = (_: TemplateState, input: Static<typeof newTemplateSchema>): readonly TemplateEvent[] => [
  { topic: 'templateCreated', data: contentOf(input) },
];

/** Omitted fields stay as they are. */
export const update = (
  { content }: TemplateState,
  patch: Static<typeof templatePatchSchema>,
  { id, refs }: Context<TemplateRefs>,
): readonly TemplateEvent[] => {
  if (patch._id !== undefined && patch._id !== id)
    throw new RequestError('invalid', 'The _id is that of another template', { path: '/_id' });
  if (patch.type !== undefined && patch.type !== content.type && !isTemplateType(patch.type))
    throw new RequestError('invalid', 'The type must be jinja2 or textfsm', { path: '/type' });
  const changes = changesBetween(content, contentIn({ ...content, ...patch, ...keptTags(patch, content) }));
  if (changes && 'name' in changes.changed) refuseReferred(refs.referrers, 'renamed');
  return changes ? [{ topic: 'templateChanged', data: changes.changed }] : [];
};

/** Tags as the service shows them are no change: secrets that an import has brought are masked there. */
const keptTags = ({ tags }: Static<typeof templatePatchSchema>, content: TemplateContent) =>
  same(tags, maskSecrets(content.tags)) ? { tags: content.tags } : {};

/**
 * Imports a document of any installation, with its times and authors (`accounts`: ids by username), into its own stream
 * or that of the template with the same name.
 */
export const importOne = (
  { exists, content, imported }: TemplateState,
  { template, overwrite = false }: { readonly template: TemplateDocument; readonly overwrite?: boolean },
  context: Context<TemplateRefs & ImportAuthors>,
): readonly TemplateEvent[] => {
  const { refs, id } = context;
  const { known } = templateParts(template);
  const newContent = contentOf(known);
  const own = [id, imported && templateParts(imported.document).known._id].includes(known._id ?? id);
  const isSame = (): boolean =>
    same(newContent, content) && sameRest(template, defined({ content, imported }), templateParts, refs);
  if (exists && (own || overwrite) && isSame()) return [];
  if (exists && !overwrite) throw nameConflict(known._id, id);
  if (exists && newContent.name !== content.name) refuseReferred(refs.referrers, 'renamed');
  const authors = authorsOf(known, refs.accounts, context);
  return [
    { topic: 'templateRestored', data: { ...newContent, ...authors, imported: withoutContent(template, newContent) } },
  ];
};

/** The error of an import under an id or name that is used. */
const nameConflict = (otherId: string | undefined, id: string): RequestError => {
  if (otherId === id)
    return new RequestError('conflict', 'A template with this id exists with other content', { path: '/_id' });
  const message = otherId ? 'Another template has this name' : 'A template with this name exists with other content';
  return new RequestError('conflict', message, { path: '/name' });
};

export const remove = (_: TemplateState, __: unknown, { refs }: Context<TemplateRefs>): readonly TemplateEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'templateDeleted', data: {} }];
};

/** Templates of any installation. */
export const templateDocuments: DocumentKind = {
  of: template,
  name: 'template',
  types: ['template'],
  secrets: (document, work) => (document.data === undefined ? document : { ...document, data: work(document.data) }),
  is: ({ template, name }) => typeof template === 'string' && typeof name === 'string',
  importing: listOf('POST', '/template_builder/import/templates', 'templates'),
  ...at('/template_builder/templates'),
};
