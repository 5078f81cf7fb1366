import { type Static, Type } from 'typebox';
import { authorsOf, type ImportAuthors } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, hasAny, listOf, nowhere } from '../engine/documentKinds.ts';
import { type Imported, importedIn, sameRest, withoutContent } from '../engine/importedDocuments.ts';
import { sealDocument } from '../engine/importedSecrets.ts';
import { followsProject } from '../engine/namespaces.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskSecrets, type Seal } from '../engine/secretFields.ts';
import { anything, nothing, object, restoredAs, text, textOrNull, topicsOf, typed } from '../engine/topics.ts';
import { formParts, importedFormId, signatureOf } from './formDocuments.ts';
import type { FormContent, FormDocument, formPatchSchema, newFormSchema } from './formSchemas.ts';
import { checkedStruct, importedStruct } from './formStructs.ts';

const content = {
  name: text,
  description: textOrNull,
  struct: typed<FormContent['struct']>()(object),
  schema: typed<FormContent['schema']>()(object),
  uiSchema: anything,
  validationSchema: anything,
  bindingSchema: anything,
  version: text,
  tags: Type.Array(anything),
  namespace: typed<FormContent['namespace']>()(anything),
};

const topics = topicsOf({
  formCreated: ['A form was created', Type.Object(content)],
  formChanged: ['Members of a form changed', Type.Partial(Type.Object(content))],
  formRestored: restoredAs('A form', content),
  formDeleted: ['A form was deleted', nothing],
});
export type FormEvent = EventOf<typeof topics>;

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
const contentOf = (content: Partial<FormContent> & { readonly name: string }): FormContent => ({
  ...defaults,
  schema: { type: 'object', title: content.name, properties: {} },
  ...content,
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

export type FormState = {
  readonly exists: boolean;
  readonly content: FormContent;
  readonly imported?: Imported<FormContent>;
};

export const form = aggregate<FormState, FormEvent>({
  area: 'json-forms',
  category: 'form',
  topics,
  initial: { exists: false, content: contentOf({ name: '' }) },
  evolve: {
    formCreated: (_, content) => ({ exists: true, content }),
    formChanged: (state, changed) => ({ ...state, content: { ...state.content, ...changed } }),
    formRestored: (_, data) => {
      const content = contentIn(data);
      return { exists: true, content, ...importedIn(data, content) };
    },
    formDeleted: ({ content }) => ({ exists: false, content }),
  },
  names: ({ exists, content }) => (exists ? [{ kind: 'form', name: content.name }] : []),
  follows: ({ content }) => followsProject(content.name),
});

export type FormRefs = {
  /** Why the request's `schema` cannot be compiled. */
  readonly schemaFault?: string;
  /** The triggers that refer to the form by a name that it loses. */
  readonly referrers: readonly Referrer[];
};

/** The members of a request of a person. `path` points to them. */
const checked = <Given extends Partial<FormContent>>(
  content: Given,
  { schemaFault }: Pick<FormRefs, 'schemaFault'>,
  path = '',
): Given => {
  if (content.schema !== undefined && schemaFault !== undefined)
    throw new RequestError('invalid', `The schema cannot be used: ${schemaFault}`, { path: `${path}/schema` });
  return content.struct === undefined
    ? content
    : { ...content, struct: checkedStruct(content.struct, `${path}/struct`) };
};

export const create = (
  _: FormState,
  input: Static<typeof newFormSchema>,
  { refs }: Context<FormRefs>,
): readonly FormEvent[] => [{ topic: 'formCreated', data: checked(contentIn(contentOf(input)), refs) }];

/**
 * Omitted options stay as they are. So do those that are equal to what the service shows, even where a person might not
 * write them so: an import may have brought them. The options are below `/options` in the body.
 */
export const update = (
  { content }: FormState,
  options: Static<typeof formPatchSchema>,
  { refs }: Context<FormRefs>,
): readonly FormEvent[] => {
  documentId(options, '/options');
  const news = checked(newsIn(options, content), refs, '/options');
  const changes = changesBetween(content, contentIn({ ...content, ...news }));
  refuseReferred(refs.referrers, 'renamed');
  return changes ? [{ topic: 'formChanged', data: changes.changed }] : [];
};

/** The options that are not equal to what the service shows of the content. */
const newsIn = (options: Static<typeof formPatchSchema>, content: FormContent): Partial<FormContent> =>
  Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !same(value, maskSecrets(content[name as keyof FormContent]))),
  );

/** The id in a request, from `_id` or `id`, if it has one. Throws `invalid` if the two differ. */
const documentId = ({ _id, id }: Pick<FormDocument, '_id' | 'id'>, path = ''): string | undefined => {
  if (_id !== undefined && id !== undefined && id !== _id)
    throw new RequestError('invalid', '_id and id must be the same', { path: `${path}/id` });
  return _id ?? id;
};

type Importing = { readonly form: FormDocument; readonly overwrite?: boolean };

/** The import with sealed secrets. The mask keeps those of the last import, and of the installed package. */
export const sealImported = (
  input: Importing,
  { imported }: FormState,
  seal: Seal,
  present: readonly Importing[],
): Importing => ({
  ...input,
  form: sealDocument(input.form, [...present.map(({ form }) => form), imported?.document], seal),
});

/**
 * Imports a form of any installation with its times and authors (`accounts`: ids by username), into its own stream or
 * that of the form with the same name. A schema that cannot be compiled is kept: a trigger that uses the form says what
 * is wrong with it.
 */
export const importOne = (
  { exists, content, imported }: FormState,
  { form, overwrite = false }: Importing,
  context: Context<Pick<FormRefs, 'referrers'> & ImportAuthors>,
): readonly FormEvent[] => {
  const { refs } = context;
  const { known } = formParts(form);
  const formContent = contentIn(contentOf(known));
  const newContent = { ...formContent, struct: importedStruct(formContent.struct, '/struct') };
  const own = [context.id, imported && importedFormId(imported.document as FormDocument)].includes(
    importedFormId(known) ?? context.id,
  );
  const alike = same(newContent, content) && sameRest(form, defined({ imported, content }), formParts, refs);
  if (exists && (own || overwrite) && alike) return [];
  if (exists && !overwrite)
    throw new RequestError(
      'conflict',
      own ? 'A form with this id exists with other content' : 'Another form has this name',
      { path: own ? '/_id' : '/name' },
    );
  refuseReferred(refs.referrers, 'renamed');
  const authored = authorsOf(signatureOf(known), refs.accounts, context);
  return [{ topic: 'formRestored', data: { ...newContent, ...authored, imported: withoutContent(form, newContent) } }];
};

/** Part of a decision to delete forms. */
export const remove = ({ exists }: FormState): readonly FormEvent[] =>
  exists ? [{ topic: 'formDeleted', data: {} }] : [];

/** Forms of any installation. */
export const formDocuments: DocumentKind = {
  of: form,
  name: 'form',
  types: ['forms', 'json-forms'],
  secrets: nowhere,
  is: (document) =>
    hasAny(document, 'struct', 'uiSchema', 'bindingSchema', 'validationSchema') ||
    (hasAny(document, 'children') && hasAny(document, 'elements', 'groups')),
  importing: listOf('POST', '/json-forms/import/forms', 'forms'),
  ...at('/json-forms/forms'),
};
