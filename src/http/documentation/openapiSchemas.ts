import { refTo } from './openapiParts.ts';

/** A JSON Schema, or a part of one. */
type Json = { [keyword: string]: unknown };

const data = new Set(['const', 'default', 'enum', 'examples']);
const maps = new Set(['properties', 'patternProperties']);

/**
 * Writes our schemas in the form of OpenAPI 3.1 (JSON Schema 2020-12). Schemas with a title, and schemas that contain
 * themselves, are written once in `components` and as references elsewhere. Two different schemas must not share a
 * title.
 */
export const schemaWriter = (components: Record<string, Json>): ((schema: object) => Json) => {
  const keep = (name: string, written: Json): Json => {
    const known = components[name] ?? written;
    components[name] = known;
    if (JSON.stringify(known) !== JSON.stringify(written))
      throw new Error(`Two different schemas are called ${name}: give one of them another title`);
    return refTo('schemas', name);
  };

  const writeEach = (schemas: Json): Json =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, writeAny(schema)]));

  const writeAny = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(writeAny);
    return typeof value === 'object' && value !== null ? write(value) : value;
  };

  const write = (schema: object): Json => {
    const { $defs = {}, $id: _, $ref, ...rest } = schema as Json;
    for (const [name, defined] of Object.entries($defs as Record<string, object>)) keep(name, write(defined));
    if ($ref !== undefined) return refTo('schemas', String($ref).replace(/^.*\//, ''));
    const written: Json = {};
    for (const [keyword, value] of Object.entries(rest)) {
      if (data.has(keyword)) written[keyword] = value;
      else if (maps.has(keyword)) written[keyword] = writeEach(value as Json);
      else written[keyword] = writeAny(value);
    }
    const plain = modern(written);
    return typeof plain.title === 'string' ? keep(plain.title, plain) : plain;
  };
  return write;
};

/** Writes tuples and records in the form of draft 2020-12. */
const modern = ({ additionalItems, patternProperties, ...schema }: Json): Json => {
  if (Array.isArray(schema.items)) return { ...schema, prefixItems: schema.items, items: additionalItems ?? true };
  const [every, ...more] = Object.entries(patternProperties ?? {});
  if (every?.[0] === '^.*$' && more.length === 0) return { ...schema, additionalProperties: every[1] };
  return patternProperties ? { ...schema, patternProperties } : schema;
};
