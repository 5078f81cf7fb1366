import { hash } from 'node:crypto';
import { canonical } from '../../domain/engine/canonical.ts';
import { same } from '../../domain/engine/changes.ts';
import { faultsInTheOpen, maskSecrets, sealImported, sealSecrets } from '../../domain/engine/secretFields.ts';
import { form } from '../../domain/json-forms/forms.ts';
import type { FormFound, FormRef } from '../../domain/operations-manager/formReferences.ts';
import { speaksOfForm } from '../../domain/operations-manager/triggers.ts';
import { formDeletions } from '../../projections/json-forms/formDeletions.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import type { Tools } from '../engine/define.ts';
import { compileUserSchema } from '../user-schemas/userSchema.ts';

/** What a trigger says of its form; triggers without a form say nothing. */
type Formed = {
  readonly type?: string;
  readonly formId?: string | null;
  readonly formData?: object | null | undefined;
  readonly formSchemaHash?: string | null;
};

/**
 * The form that a trigger names, and how the trigger's form data (null: none yet) fits it; null if it is not there, or
 * about to go.
 */
export const formNamed = async (
  idOrName: string,
  formData: unknown,
  { find, state, query }: Tools,
): Promise<FormRef | null> => {
  const id = await find(forms, idOrName);
  if (id === undefined || (await query(formDeletions, { field: 'form', op: 'equals', value: id })).length > 0)
    return null;
  const {
    exists,
    content: { name, schema },
  } = await state(form, id);
  if (!exists) return null;
  const faults = formData === null ? [] : faultsOfData(formData, schema);
  return { name, schemaHash: hash('sha256', canonical(schema), 'hex'), faults };
};

const faultsOfData = (formData: unknown, schema: object) => {
  const compiled = compileUserSchema(schema);
  if (!compiled.ok) return [{ path: '', message: compiled.reason }];
  return faultsInTheOpen(compiled.matches(formData).errors, formData);
};

/**
 * The form data of a request as it is kept: secrets sealed, and where they are masked as `known` has them. Undefined:
 * the request says nothing of them. `path` points to the trigger.
 */
export const sealedData = (
  { formData }: Formed,
  known: Formed | undefined,
  { seal }: Tools,
  path = '',
): object | null | undefined =>
  formData == null ? formData : (sealSecrets(formData, known?.formData, seal, `${path}/formData`) as object);

/** The same of a trigger that is taken in: only the mask keeps a secret, the first that one of `known` has. */
export const importedData = (
  { formData }: Formed,
  known: readonly (Formed | undefined)[],
  { seal }: Tools,
  path = '',
): object | null | undefined =>
  formData == null
    ? formData
    : (sealImported(
        formData,
        known.map((one) => one?.formData),
        seal,
        `${path}/formData`,
      ) as object);

/** The form that a trigger names, if any. Secrets that are kept fit it, whatever they are. */
export const formOf = async ({ formId, formData }: Formed, tools: Tools): Promise<FormFound> =>
  formId == null ? undefined : formNamed(formId, maskSecrets(formData ?? null), tools);

/** What a trigger says of its form after a change that speaks of it; nothing after any other. */
export const changedForm = (content: Formed | undefined, patch: Formed): Formed =>
  speaksOfForm(patch) ? { ...content, ...patch } : {};

/** Whether a document that is taken in says of its form what the trigger is not known to say. */
export const newsOfForm = (document: Formed, known: Formed | undefined): boolean =>
  document.formId != null &&
  !(
    known &&
    document.formId === known.formId &&
    same(document.formData, known.formData) &&
    document.formSchemaHash === known.formSchemaHash
  );

/** The form of a document that is taken in, if it says news of one. */
export const importedForm = async (document: Formed, known: Formed | undefined, tools: Tools): Promise<FormFound> =>
  newsOfForm(document, known) ? formOf(document, tools) : undefined;
