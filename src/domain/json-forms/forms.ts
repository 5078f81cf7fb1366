import type { Static } from 'typebox';
import { type Authored, authorsOf } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import type { FormContent, FormDocument, formPatchSchema, newFormSchema } from './formSchemas.ts';
import { checkedStruct } from './formStructs.ts';

export type FormEvent =
  | Event<'formCreated', FormContent>
  | Event<'formChanged', Partial<FormContent>>
  /** Set to the content of an imported document, with its times and authors. */
  | Event<'formRestored', FormContent & Authored>
  | Event<'formDeleted', Record<string, never>>;

const defaults = {
  description: null,
  struct: { type: 'object', items: [] },
  uiSchema: {},
  validationSchema: {},
  bindingSchema: {},
  version: '1.0.0',
  tags: [],
  namespace: null,
};
const contentOf = (given: Partial<FormContent> & { readonly name: string }): FormContent => ({
  ...defaults,
  schema: { type: 'object', title: given.name, properties: {} },
  ...given,
});

/** The content, without the other members of the object. */
const contentIn = ({
  name,
  description,
  struct,
  schema,
  uiSchema,
  validationSchema,
  bindingSchema,
  version,
  tags,
  namespace,
}: FormContent): FormContent => ({
  name,
  description,
  struct,
  schema,
  uiSchema,
  validationSchema,
  bindingSchema,
  version,
  tags,
  namespace,
});

export type FormState = { readonly exists: boolean; readonly content: FormContent };

export const form = aggregate<FormState, FormEvent>({
  area: 'json-forms',
  category: 'form',
  initial: { exists: false, content: contentOf({ name: '' }) },
  evolve: {
    formCreated: (_, content) => ({ exists: true, content }),
    formChanged: ({ exists, content }, changed) => ({ exists, content: { ...content, ...changed } }),
    formRestored: (_, data) => ({ exists: true, content: contentIn(data) }),
    formDeleted: ({ content }) => ({ exists: false, content }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists ? [{ kind: 'form', name: content.name }] : []),
});

export type FormRefs = {
  /** Why the request's `schema` cannot be compiled. */
  readonly schemaFault?: string;
  /** The triggers that refer to the form by a name that it loses. */
  readonly referrers: readonly Referrer[];
};

const checked = (given: FormContent, { schemaFault }: Pick<FormRefs, 'schemaFault'>, path = ''): FormContent => {
  if (schemaFault !== undefined)
    throw new RequestError('invalid', `The schema cannot be used: ${schemaFault}`, { path: `${path}/schema` });
  return { ...contentIn(given), struct: checkedStruct(given.struct, `${path}/struct`) };
};

export const create = (
  _: FormState,
  input: Static<typeof newFormSchema>,
  { refs }: Context<FormRefs>,
): readonly FormEvent[] => [{ topic: 'formCreated', data: checked(contentOf(input), refs) }];

/** Omitted options stay as they are. The options are below `/options` in the body. */
export const update = (
  { content }: FormState,
  options: Static<typeof formPatchSchema>,
  { refs }: Context<FormRefs>,
): readonly FormEvent[] => {
  documentId(options, '/options');
  const changes = changesBetween(content, checked({ ...content, ...options }, refs, '/options'));
  refuseReferred(refs.referrers, 'renamed');
  return changes ? [{ topic: 'formChanged', data: changes.changed }] : [];
};

/** The id of a document, from `_id` or `id`, if it has one. Throws `invalid` if the two differ. */
export const documentId = ({ _id, id }: Pick<FormDocument, '_id' | 'id'>, path = ''): string | undefined => {
  if (_id !== undefined && id !== undefined && id !== _id)
    throw new RequestError('invalid', '_id and id must be the same', { path: `${path}/id` });
  return _id ?? id;
};

/**
 * Imports a form with its times and authors (`accounts`: ids by username), into its own stream or that of the form with
 * the same name.
 */
export const importOne = (
  { exists, content }: FormState,
  { form, overwrite = false }: { readonly form: FormDocument; readonly overwrite?: boolean },
  context: Context<FormRefs & { readonly accounts: Readonly<Record<string, string>> }>,
): readonly FormEvent[] => {
  const { refs } = context;
  const wanted = checked(contentOf(form), refs);
  const own = (documentId(form) ?? context.id) === context.id;
  if (exists && (own || overwrite) && same(wanted, content)) return [];
  if (exists && !overwrite)
    throw new RequestError(
      'conflict',
      own ? 'A form with this id exists with other content' : 'Another form has this name',
      { path: own ? '/_id' : '/name' },
    );
  refuseReferred(refs.referrers, 'renamed');
  return [{ topic: 'formRestored', data: { ...wanted, ...authorsOf(form, refs.accounts, context) } }];
};

/** Part of a decision to delete forms. */
export const remove = ({ exists }: FormState): readonly FormEvent[] =>
  exists ? [{ topic: 'formDeleted', data: {} }] : [];
