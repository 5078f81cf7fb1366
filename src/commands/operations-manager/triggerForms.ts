import { hash } from 'node:crypto';
import { compileUserSchema, type Values } from '@automation-platform/bounded-schemas';
import { canonical, isObject, plainValue } from '@automation-platform/json';
import { same } from '../../domain/engine/changes.ts';
import type { Actor } from '../../domain/engine/core.ts';
import type { Imported } from '../../domain/engine/importedDocuments.ts';
import { faultsInTheOpen, maskSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import { form } from '../../domain/json-forms/forms.ts';
import type { FormFound, FormRef } from '../../domain/operations-manager/formReferences.ts';
import { speaksOfForm } from '../../domain/operations-manager/triggers.ts';
import { formDeletions } from '../../projections/json-forms/formDeletions.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { isHidden } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';

/** The form fields of a trigger. Triggers without a form have none of them. */
type Formed = {
  readonly type?: string;
  readonly formId?: string | null;
  readonly formData?: object | null | undefined;
  readonly formSchemaHash?: string | null;
};

/** Form data, and the account whose rights count. */
type FormUse = { readonly formData: unknown; readonly values: Values; readonly actor: Actor };

/**
 * The form that a trigger names, and the faults of form data under it. Null if the form does not exist, is hidden from the
 * actor, or its deletion is decided. Data that a trigger stores are `begun`: a person fills in the rest. Those of a run are `whole`.
 */
export const formNamed = async (
  idOrName: string,
  { formData, values, actor }: FormUse,
  tools: Tools,
): Promise<FormRef | null> => {
  const { find, state, query } = tools;
  const id = await find(forms, idOrName);
  if (id === undefined || (await isHidden({ of: form, id }, actor, tools))) return null;
  if ((await query(formDeletions, { field: 'form', op: 'equals', value: id })).length > 0) return null;
  const { exists, content } = await state(form, id);
  if (!exists) return null;
  const schema = plainValue(content.schema) as object;
  const isBlank = values === 'begun' && Object.keys(formData ?? {}).length === 0;
  const faults = isBlank ? [] : faultsOfData(formData, values, schema);
  return { name: content.name, schemaHash: hash('sha256', canonical(schema), 'hex'), faults };
};

const faultsOfData = (formData: unknown, values: Values, schema: object) => {
  const compiled = compileUserSchema(withOpenChoices(schema) as object, values);
  if (!compiled.ok) return [{ path: '', message: `the schema of the form cannot be used: ${compiled.reason}` }];
  return faultsInTheOpen(compiled.matches(formData).errors, formData);
};

/** The schema of a form without empty lists of choices: the form gets these choices when a person fills it in. */
const withOpenChoices = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withOpenChoices);
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).filter(
    ([name, value]) => !(name === 'enum' && Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(members.map(([name, value]) => [name, withOpenChoices(value)]));
};

/**
 * The form data of a request with sealed secrets. The mask keeps the secrets of `trigger`. Undefined if the request has
 * no form data. `path` points to the trigger.
 */
export const sealedData = (
  { formData }: Formed,
  trigger: Formed | undefined,
  { seal }: Tools,
  path = '',
): object | null | undefined =>
  formData == null ? formData : (sealSecrets(formData, trigger?.formData, seal, `${path}/formData`) as object);

/**
 * The form that a trigger names, if it names one. Masked secrets count as valid: nobody checks them against the form.
 */
export const formOf = async ({ formId, formData }: Formed, actor: Actor, tools: Tools): Promise<FormFound> =>
  formId == null
    ? undefined
    : formNamed(formId, { formData: maskSecrets(formData ?? null), values: 'begun', actor }, tools);

/** The form fields of a trigger after a patch; none if the patch has no form fields. */
export const changedForm = (content: Formed | undefined, patch: Formed): Formed =>
  speaksOfForm(patch) ? { ...content, ...patch } : {};

/** A trigger that is there. */
type Known = { readonly content?: Formed; readonly imported?: Imported<object> };

/**
 * True if an imported document changes the form fields of the known trigger. Its hash may be that of the trigger, or
 * that of the last import: the form of another installation has another hash.
 */
export const newsOfForm = (document: Formed, { content, imported }: Known = {}): boolean =>
  document.formId != null &&
  !(
    content &&
    document.formId === content.formId &&
    same(document.formData ?? null, content.formData) &&
    [content.formSchemaHash, imported?.document.formSchemaHash].includes(document.formSchemaHash)
  );

/**
 * The imported trigger with the form's id or name as the known trigger has it, if both name the same form: exports
 * name it by its name.
 */
export const inStoredWords = async <Trigger extends object>(
  document: Trigger,
  { content }: Known = {},
  { find }: Pick<Tools, 'find'>,
): Promise<Trigger> => {
  const { formId } = document as Formed;
  const stored = content?.formId;
  if (formId == null || stored == null || formId === stored) return document;
  const [meant, there] = [await find(forms, formId), await find(forms, stored)];
  return meant !== undefined && meant === there ? { ...document, formId: stored } : document;
};

/** The form of an imported document, if the import changes the form fields. */
export const importedForm = async (
  document: Formed,
  trigger: Known | undefined,
  actor: Actor,
  tools: Tools,
): Promise<FormFound> => (newsOfForm(document, trigger) ? formOf(document, actor, tools) : undefined);
