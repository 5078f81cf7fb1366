import { isObject, type Members } from '@automation-platform/json';
import { RequestError } from '../../engine/requestError.ts';
import type { Task } from './workflows.ts';

/** The form that a person fills in: a stored one, or a schema that the task brings. */
export type FormOfTask = { readonly formId: string } | { readonly schema: unknown };

/** The form of a task; undefined if it has none. `inputs`: with the values of its references. */
export const formOfTask = ({ name }: Pick<Task, 'name'>, inputs: Members): FormOfTask | undefined => {
  if (name === 'ShowJsonForm' && typeof inputs.form_id === 'string') return { formId: inputs.form_id };
  return name === 'RenderJsonSchema' ? { schema: inputs.jsonSchema ?? inputs.schema ?? true } : undefined;
};

const outputNames: Readonly<Record<string, string>> = {
  ShowJsonForm: 'export',
  RenderJsonSchema: 'export',
  ErrorHandling: 'response',
};

/** The outputs that a person's data are. */
export const outputsOfPerson = ({ name }: Pick<Task, 'name'>, data: unknown): Members => {
  const output = Object.hasOwn(outputNames, name) ? outputNames[name] : undefined;
  if (output !== undefined) return Object.fromEntries([[output, data]]);
  if (!isObject(data)) throw new RequestError('invalid', 'The data of this task are an object', { path: '/data' });
  return data;
};
