import { SchemaError } from './schemaError.ts';
import type { Json } from './schemaPlaces.ts';

/** An unfinished part. The functions below change it so that ajv checks it as JSON Schema defines. */
export type Draft = { [keyword: string]: unknown };

/** Turns a list of schemas in `items` (draft-07) into `prefixItems`. */
export const tellItems = (part: Draft): void => {
  const { items, additionalItems } = part;
  delete part.additionalItems;
  if (!Array.isArray(items)) return;
  if ('prefixItems' in part) throw new SchemaError('A list in items and prefixItems exclude each other');
  delete part.items;
  if (items.length > 0) part.prefixItems = items;
  if (additionalItems !== undefined) part.items = additionalItems;
};

/**
 * For an empty array, ajv skips all keywords after `prefixItems`. So `prefixItems` and `items` get a subschema of their
 * own.
 */
export const setTupleApart = (part: Draft, mark: object): void => {
  const { prefixItems, items } = part;
  if (prefixItems === undefined) return;
  delete part.prefixItems;
  delete part.items;
  const tuple = { prefixItems, ...mark };
  part.allOf = [...((part.allOf as unknown[] | undefined) ?? []), items === undefined ? tuple : { ...tuple, items }];
};

/** ajv ignores a property named __proto__, but not a pattern that matches this name. */
export const tellProto = (part: Draft): void => {
  for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
    if (Object.hasOwn(part[keyword] ?? {}, '__proto__'))
      throw new SchemaError(`__proto__ is not supported in ${keyword}`);
  }
  const { properties = {}, patternProperties = {} } = part as { properties?: Json; patternProperties?: Json };
  if (!Object.hasOwn(properties, '__proto__')) return;
  part.patternProperties = {
    ...patternProperties,
    '^(?:__proto__)$': Object.getOwnPropertyDescriptor(properties, '__proto__')?.value,
  };
};
