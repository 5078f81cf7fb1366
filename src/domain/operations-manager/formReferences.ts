import { type Fault, RequestError } from '../engine/requestError.ts';

/** What a form is to a trigger that names it. */
export type FormRef = {
  readonly name?: string;
  /** SHA-256 of the canonical text of the form's schema, hexadecimal. */
  readonly schemaHash: string;
  /** What of the trigger's form data does not fit that schema; paths are within the data. */
  readonly faults: readonly { readonly message: string; readonly path: string }[];
};

/** A trigger's form: null if there is none of that name or id, undefined if nothing new is said of it. */
export type FormFound = FormRef | null | undefined;

/**
 * Throws `not_found` if forms are not there, else `invalid` if form data does not fit, naming all. `path` points to the
 * trigger.
 */
export const refuseForms = (
  named: readonly { readonly formId: string | null | undefined; readonly form: FormFound; readonly path: string }[],
): void => {
  const missing: Fault[] = named
    .filter(({ form }) => form === null)
    .map(({ formId, path }) => ({
      message: `No form has the name or id ${JSON.stringify(formId)}`,
      path: `${path}/formId`,
    }));
  if (missing.length > 0)
    throw new RequestError('not_found', missing.map(({ message }) => message).join('; '), { faults: missing });
  const unfit: Fault[] = named.flatMap(
    ({ form, path }) => form?.faults.map((fault) => ({ ...fault, path: `${path}/formData${fault.path}` })) ?? [],
  );
  if (unfit[0])
    throw new RequestError('invalid', `The form data does not fit the form: ${unfit[0].path} ${unfit[0].message}`, {
      faults: unfit,
    });
};
