import type { Static } from 'typebox';
import { type Authored, authorsOf } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskNamed, type Seal, sealImported, sealSecrets } from '../engine/secretFields.ts';
import type { newTemplateSchema, TemplateContent, TemplateDocument, templatePatchSchema } from './templateSchemas.ts';

export type TemplateEvent =
  | Event<'templateCreated', TemplateContent>
  | Event<'templateChanged', Partial<TemplateContent>>
  /** Set to the content of an imported document, with its times and authors. */
  | Event<'templateRestored', TemplateContent & Authored>
  | Event<'templateDeleted', Record<string, never>>;

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
const contentOf = (given: Static<typeof newTemplateSchema>): TemplateContent =>
  contentIn({ type: 'jinja2', description: '', command: '', data: null, group: '', tags: [], ...given });

export type TemplateState = { readonly exists: boolean; readonly content: TemplateContent };

export const template = aggregate<TemplateState, TemplateEvent>({
  area: 'template-builder',
  category: 'template',
  initial: { exists: false, content: contentOf({ name: '', template: '' }) },
  evolve: {
    templateCreated: (_, content) => ({ exists: true, content }),
    templateChanged: ({ exists, content }, changed) => ({ exists, content: { ...content, ...changed } }),
    templateRestored: (_, data) => ({ exists: true, content: contentIn(data) }),
    templateDeleted: ({ content }) => ({ exists: false, content }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists ? [{ kind: 'template', name: content.name }] : []),
});

type WithData = { readonly data?: TemplateContent['data'] };

/** The request with sealed secrets in its sample data. The mask keeps the template's secrets. */
export const sealData = <T extends WithData>(given: T, { content }: TemplateState, seal: Seal): T =>
  given.data === undefined ? given : { ...given, data: sealSecrets(given.data, content.data, seal, '/data') };

/** Like `sealData`, for an imported document. The mask keeps the secrets of `befores`. */
export const sealTemplate = (given: TemplateDocument, befores: readonly WithData[], seal: Seal): TemplateDocument =>
  given.data === undefined
    ? given
    : {
        ...given,
        data: sealImported(
          given.data,
          befores.map(({ data }) => data),
          seal,
          '/data',
        ) as TemplateContent['data'],
      };

/**
 * The template for answers: secrets in its sample data are masked, even those that an earlier version stored in clear.
 */
export const maskTemplate = <T extends WithData>(template: T): T =>
  template.data === undefined ? template : { ...template, data: maskNamed(template.data) };

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
  const changes = changesBetween(content, contentIn({ ...content, ...patch }));
  if (changes && 'name' in changes.changed) refuseReferred(refs.referrers, 'renamed');
  return changes ? [{ topic: 'templateChanged', data: changes.changed }] : [];
};

/**
 * Imports a document with its times and authors (`accounts`: ids by username), into its own stream or that of the
 * template with the same name.
 */
export const importOne = (
  { exists, content }: TemplateState,
  { template, overwrite = false }: { readonly template: TemplateDocument; readonly overwrite?: boolean },
  context: Context<TemplateRefs & { readonly accounts: Readonly<Record<string, string>> }>,
): readonly TemplateEvent[] => {
  const { refs, id } = context;
  const wanted = contentOf(template);
  const own = (template._id ?? id) === id;
  if (exists && (own || overwrite) && same(wanted, content)) return [];
  if (exists && !overwrite)
    throw new RequestError(
      'conflict',
      own ? 'A template with this id exists with other content' : 'Another template has this name',
      { path: own ? '/_id' : '/name' },
    );
  if (exists && wanted.name !== content.name) refuseReferred(refs.referrers, 'renamed');
  return [{ topic: 'templateRestored', data: { ...wanted, ...authorsOf(template, refs.accounts, context) } }];
};

export const remove = (_: TemplateState, __: unknown, { refs }: Context<TemplateRefs>): readonly TemplateEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'templateDeleted', data: {} }];
};
