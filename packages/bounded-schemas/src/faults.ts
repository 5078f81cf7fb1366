import { cut, nearestName, step } from '@automation-platform/json';
import type { ErrorObject } from 'ajv';

/** A fault of a value, with the JSON pointer of its field, even if the field is missing or unknown. */
export type SchemaFault = { readonly message: string; readonly path: string };

/** The largest number of faults for one value. */
export const mostFaults = 20;
const longestPath = 1000;

/** Turns ajv's errors into readable faults, at most 20. The messages never quote the checked value. */
export const faultsOf = (errors: readonly ErrorObject[]): readonly SchemaFault[] => {
  const unions = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .map(({ schemaPath }) => `${schemaPath}/`);
  const faults = new Map<string, SchemaFault>();
  for (const error of errors) {
    if (faults.size === mostFaults) break;
    if (secondary.has(error.keyword) || unions.some((union) => error.schemaPath.startsWith(union))) continue;
    const path = pathOf(error);
    const fault = { message: wordsOf(error), path: cut(path, longestPath) };
    faults.set(`${fault.path}\n${fault.message}`, fault);
  }
  return [...faults.values()];
};

// The errors within these keywords already describe their faults.
const secondary = new Set(['if', 'propertyNames']);

const pathOf = ({ instancePath, params, propertyName }: ErrorObject): string => {
  const member: unknown = params.missingProperty ?? params.additionalProperty ?? propertyName;
  return typeof member === 'string' ? instancePath + step(member) : instancePath;
};

const wordsOf = (error: ErrorObject): string => {
  const { keyword, message = 'is not valid', params, propertyName } = error;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'dependencies':
    case 'dependentRequired':
      return `is required beside ${shortText(params.property)}`;
    case 'additionalProperties':
      return `is not a known field${suggestion(error)}`;
    case 'unevaluatedProperties':
      return 'is not a known field';
    case 'const':
      return `must be ${shortText(params.allowedValue)}`;
    case 'enum':
      return oneOf(params.allowedValues);
    case 'type':
      return `must be ${[params.type].flat().join(' or ')}`;
    case 'anyOf':
      return 'fits none of the forms that are allowed here';
    case 'oneOf':
      return params.passingSchemas
        ? 'fits more than one of the forms that are allowed here'
        : 'fits none of the forms that are allowed here';
    case 'false schema':
    case 'unevaluatedItems':
      return 'is not allowed';
    default:
      return propertyName === undefined ? message : `as a name ${message}`;
  }
};

/** Only our own schemas are checked with `verbose`, so that errors have `parentSchema`. */
const suggestion = ({ params, parentSchema }: ErrorObject): string => {
  const { properties = {} } = (parentSchema ?? {}) as { readonly properties?: object };
  const near = nearestName(String(params.additionalProperty), Object.keys(properties));
  return near === undefined ? '' : `; did you mean ${shortText(near)}?`;
};

const oneOf = (values: readonly unknown[]): string =>
  values.length === 0
    ? 'has no allowed values: its enum is empty'
    : `must be one of ${values.slice(0, mostFaults).map(shortText).join(', ')}`;

const shortText = (value: unknown): string => cut(JSON.stringify(value) ?? '', 100);
