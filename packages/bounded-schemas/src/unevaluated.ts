import { isObject, step } from '@automation-platform/json';
import type { Ajv, AnySchemaObject, ErrorObject } from 'ajv';
import { mostFaults } from './faults.ts';
import type { Part, Parts } from './schemaParts.ts';

export type Tools = {
  readonly parts: Parts;
  readonly spend: (steps: number) => void;
  readonly fits: (text: string, pattern: string) => boolean;
};

type Key = string | number;
type Json = { readonly [member: string]: unknown };
type Check = {
  (value: unknown, context?: { readonly instancePath: string }): boolean;
  errors?: Partial<ErrorObject>[];
};

/**
 * Adds `unevaluatedProperties` and `unevaluatedItems`: schemas for the members that no other keyword has checked. ajv's
 * own versions ignore some keywords (`contains`, an `if` without `then`). So this code walks through the schema once
 * more for each member. Subschemas of unions, conditions and `contains` must be references to parts, because each is
 * checked on its own.
 */
export const addUnevaluated = (ajv: Ajv, tools: Tools): void => {
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems']) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      post: true,
      schemaType: ['object', 'boolean'],
      compile: (rest: Part, { [keyword]: _, ...around }: AnySchemaObject) => {
        const check: Check = (value, context) => {
          const members = keyword === 'unevaluatedItems' ? itemsOf(value) : propertiesOf(value);
          const isEvaluated = seenIn(value, ajv, tools);
          const errors: Partial<ErrorObject>[] = [];
          for (const [key, member] of members) {
            if (!isEvaluated(around, key))
              errors.push(
                ...faultsOf(member, rest, { keyword, instancePath: `${context?.instancePath ?? ''}${step(key)}` }, ajv),
              );
            if (errors.length >= mostFaults) break;
          }
          // Set last, because the schema of a member may call this check again.
          check.errors = errors;
          return errors.length === 0;
        };
        return check;
      },
    });
  }
};

const itemsOf = (value: unknown): readonly (readonly [Key, unknown])[] =>
  Array.isArray(value) ? [...value.entries()] : [];
const propertiesOf = (value: unknown): readonly (readonly [Key, unknown])[] =>
  isObject(value) ? Object.entries(value) : [];

const faultsOf = (
  member: unknown,
  schema: Part,
  { keyword, instancePath }: { readonly keyword: string; readonly instancePath: string },
  ajv: Ajv,
): readonly Partial<ErrorObject>[] => {
  if (schema === true) return [];
  const validate = schema === false ? undefined : ajv.getSchema(partNamed(schema));
  if (!validate) return [{ keyword, instancePath, params: {} }];
  return validate(member, { instancePath, parentData: {}, parentDataProperty: '', rootData: {}, dynamicAnchors: {} })
    ? []
    : (validate.errors ?? []);
};

const partNamed = (part: Exclude<Part, boolean>): string => {
  if (typeof part.$ref !== 'string') throw new Error('A schema that must be a part is none');
  return part.$ref;
};

/**
 * Returns a function that tells whether the schema, or one of its subschemas that apply, has checked a member of the
 * value.
 */
const seenIn = (value: unknown, ajv: Ajv, { parts, spend, fits }: Tools) => {
  const outcomes = new Map<string, boolean>();
  const isValid = (schema: unknown, of: unknown): boolean =>
    typeof schema === 'boolean' ? schema : ajv.getSchema(partNamed(schema as Json))?.(of) === true;
  const holds = (schema: unknown): boolean => {
    if (typeof schema === 'boolean') return schema;
    const name = partNamed(schema as Json);
    const outcome = outcomes.get(name) ?? isValid(schema, value);
    outcomes.set(name, outcome);
    return outcome;
  };

  const itemSeen = (schema: Json, index: number): boolean => {
    if ('items' in schema || 'unevaluatedItems' in schema) return true;
    if (index < list(schema.prefixItems).length) return true;
    return 'contains' in schema && Array.isArray(value) && isValid(schema.contains, value[index]);
  };

  const propertySeen = (schema: Json, name: string): boolean => {
    if ('additionalProperties' in schema || 'unevaluatedProperties' in schema) return true;
    if (Object.hasOwn(schema.properties ?? {}, name)) return true;
    return Object.keys(schema.patternProperties ?? {}).some((pattern) => fits(name, pattern));
  };

  const evaluatedCache = new Map<Json, readonly unknown[]>();
  const applied = (schema: Json): readonly unknown[] => {
    const all = evaluatedCache.get(schema) ?? appliedTo(value, schema, parts, holds);
    evaluatedCache.set(schema, all);
    return all;
  };
  const isEvaluated = (schema: unknown, key: Key): boolean => {
    spend(5);
    if (!isObject(schema)) return false;
    if (typeof key === 'number' ? itemSeen(schema, key) : propertySeen(schema, key)) return true;
    return applied(schema).some((other) => isEvaluated(other, key));
  };
  return isEvaluated;
};

/** The subschemas that apply to the value, if the value fits the schema. */
const appliedTo = (
  value: unknown,
  schema: Json,
  parts: Parts,
  holds: (schema: unknown) => boolean,
): readonly unknown[] => {
  const { $ref, allOf, anyOf, oneOf, dependentSchemas, dependencies } = schema;
  const applied: unknown[] = [...list(allOf), ...[...list(anyOf), ...list(oneOf)].filter(holds)];
  if (typeof $ref === 'string') applied.push(parts.get($ref));
  if ('if' in schema && holds(schema.if)) applied.push(schema.if, schema.then);
  else if ('if' in schema) applied.push(schema.else);
  for (const dependent of [dependentSchemas, dependencies]) {
    if (isObject(dependent) && isObject(value))
      applied.push(
        ...Object.keys(dependent)
          .filter((name) => Object.hasOwn(value, name))
          .map((name) => dependent[name]),
      );
  }
  return applied;
};

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
