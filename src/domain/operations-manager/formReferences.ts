import { type Fault, RequestError, refuseFaults } from '../engine/requestError.ts';

/** The form of a trigger. */
export type FormRef = {
  readonly name?: string;
  /** SHA-256 of the form's schema as canonical JSON, hexadecimal. */
  readonly schemaHash: string;
  /** The faults of the trigger's form data under that schema. Paths start at the data. */
  readonly faults: readonly { readonly message: string; readonly path: string }[];
};

/**
 * The form of a trigger; null if no form has that name or id, undefined if the request does not change the form fields.
 */
export type FormFound = FormRef | null | undefined;

/**
 * Throws `not_found` with all unknown forms, else `invalid` with all faults of form data, if there are any. `path`
 * points to the trigger.
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
  refuseFaults('not_found', missing);
  const unfit: Fault[] = named.flatMap(
    ({ form, path }) => form?.faults.map((fault) => ({ ...fault, path: `${path}/formData${fault.path}` })) ?? [],
  );
  if (unfit[0])
    throw new RequestError('invalid', `The form data does not fit the form: ${unfit[0].path} ${unfit[0].message}`, {
      faults: unfit,
    });
};
