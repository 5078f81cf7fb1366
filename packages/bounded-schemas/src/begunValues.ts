import { isObject } from '@automation-platform/json';
import type { Part, Parts } from './schemaParts.ts';
import type { Json } from './schemaPlaces.ts';

/*
 * A begun value is one that a person has still to complete: objects get more members, lists more items, and everything
 * else stays as it is. It fits a schema if one of its completions may fit.
 */

/** The parts of a schema for begun values. */
export const forBegun = (parts: Parts): Parts =>
  new Map(
    [...parts].flatMap(([name, part]) => [
      [name, possible(part)],
      [surely(name), certain(part)],
    ]),
  );

const surely = (name: unknown): string => `${name} surely`;

// More members or items can mend these. Which members other keywords have looked at is not known before the end.
const mendable = new Set([
  ...['required', 'minProperties', 'dependentRequired', 'minItems', 'contains', 'minContains', 'maxContains'],
  ...['unevaluatedProperties', 'unevaluatedItems'],
]);

type Rewrite = (part: Part) => Part;

/** Fits what a completion may make fit. */
const possible: Rewrite = (part) => {
  if (typeof part === 'boolean') return part;
  const { not, if: condition, then = true, else: otherwise = true, oneOf, ...rest } = part;
  const record: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(rest))
    if (!mendable.has(keyword)) record[keyword] = rewritten(keyword, value, possible);
  if (not !== undefined) record.not = certain(not as Part);
  const further: Part[] = [];
  if (condition !== undefined)
    further.push(
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: certain(condition as Part), then: possible(then as Part) },
      { if: possible(condition as Part), else: possible(otherwise as Part) },
    );
  if (oneOf !== undefined) further.push({ anyOf: (oneOf as readonly Part[]).map(possible) });
  return further.length === 0
    ? record
    : { ...record, allOf: [...((record.allOf as Part[] | undefined) ?? []), ...further] };
};

const lists = ['allOf', 'anyOf', 'prefixItems'];
const maps = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'];
const single = ['items', 'additionalProperties', 'propertyNames'];

const rewritten = (keyword: string, value: unknown, rewrite: Rewrite): unknown => {
  if (single.includes(keyword)) return rewrite(value as Part);
  if (lists.includes(keyword)) return (value as readonly Part[]).map(rewrite);
  if (!maps.includes(keyword)) return value;
  // In `dependencies` a list of names is in the place of a schema.
  const members = Object.entries(value as Json).filter(([, member]) => !Array.isArray(member));
  return Object.fromEntries(members.map(([name, member]) => [name, rewrite(member as Part)]));
};

// A value that fits these now still fits them when it has more members and items.
const lasting = new Set([
  ...['type', 'const', 'enum', 'format', 'pattern', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum'],
  ...['exclusiveMinimum', 'maxLength', 'minLength', 'required', 'minProperties', 'minItems', '$cost'],
]);

/** Fits only what every completion makes fit. Where that is not easy to say, it fits nothing. */
const certain: Rewrite = (part) => {
  if (typeof part === 'boolean') return part;
  const record: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(part)) {
    if (keyword === '$ref') record.$ref = surely(value);
    else if (keyword === 'not') record.not = possible(value as Part);
    else if (keyword === 'allOf' || keyword === 'anyOf') record[keyword] = rewritten(keyword, value, certain);
    else if (keyword === 'properties') Object.assign(record, presentProperties(value as Json, part.required));
    else if (lasting.has(keyword) && !holdsObjects(keyword, value)) record[keyword] ??= value;
    else return false;
  }
  return record;
};

/** Properties that are there. One that is not may still get a value that does not fit. */
const presentProperties = (properties: Json, required: unknown): Json => ({
  properties: rewritten('properties', properties, certain),
  required: [...new Set([...Object.keys(properties), ...((required as string[] | undefined) ?? [])])],
});

/** An object or a list among the constants becomes another one when it is completed. */
const holdsObjects = (keyword: string, value: unknown): boolean =>
  (keyword === 'const' && isContainer(value)) ||
  (keyword === 'enum' && (value as readonly unknown[]).some(isContainer));

const isContainer = (value: unknown): boolean => Array.isArray(value) || isObject(value);
