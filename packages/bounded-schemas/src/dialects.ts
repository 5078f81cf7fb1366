import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { faultsOf } from './faults.ts';
import { compareAsJson } from './jsonKeywords.ts';
import { SchemaError } from './schemaError.ts';

/** A version of JSON Schema. */
export type Dialect = {
  /** Checks whether a value is a schema of this dialect. */
  readonly isSchema: () => ValidateFunction;
  /** The keywords whose value is one schema or a list of schemas. */
  readonly schemas: readonly string[];
  /** The keywords whose value holds schemas by name. */
  readonly maps: readonly string[];
  /** The other keywords that check values. */
  readonly values: readonly string[];
  /** Which keywords beside a `$ref` count: none, all, or all but a `$id`, which is rejected there. */
  readonly besideRef: 'nothing' | 'everything' | 'noId';
};

const words = (text: string): readonly string[] => text.split(' ');
const schemas = words(
  'items additionalItems contains additionalProperties propertyNames not if then else allOf anyOf oneOf',
);
const newSchemas = words('prefixItems unevaluatedItems unevaluatedProperties');
const maps = words('properties patternProperties definitions $defs dependencies');
const newMaps = words('dependentSchemas');
const values = [
  ...words('type const enum required format pattern multipleOf maximum exclusiveMaximum minimum exclusiveMinimum'),
  ...words('maxLength minLength maxItems minItems uniqueItems maxProperties minProperties'),
];
const newValues = words('dependentRequired maxContains minContains');

const oldUri = 'http://json-schema.org/draft-07/schema';
const newUri = 'https://json-schema.org/draft/2020-12/schema';
const newParts = words('core applicator unevaluated validation meta-data format-annotation content').map(
  (part) => `https://json-schema.org/draft/2020-12/meta/${part}`,
);

/** The schema itself: `getSchema` would compile it, and no start waits for that. */
const schemaAt = (meta: Ajv, uri: string): AnySchemaObject => {
  const schema = meta.schemas[uri]?.schema;
  if (typeof schema !== 'object') throw new Error(`There is no ${uri}`);
  return schema;
};
// Formats are not checked here. Other code checks patterns and references, with clearer errors.
const oldMeta = new Ajv({ strict: false, validateFormats: false });
const newMeta = new Ajv2020({ strict: false, validateFormats: false });
compareAsJson(oldMeta);
compareAsJson(newMeta);
// ajv's copy of draft-07 rejects an empty enum. The standard only advises against it.
const strictly = schemaAt(oldMeta, oldUri);
oldMeta.removeSchema(oldUri);
oldMeta.addMetaSchema(
  { ...strictly, properties: { ...strictly.properties, enum: { type: 'array', items: true } } },
  undefined,
  false,
);

const oldSchema = schemaAt(oldMeta, oldUri);

/** The documents that define the dialects. Schemas may refer to them. */
export const definitions: ReadonlyMap<string, AnySchemaObject> = new Map([
  [oldUri, oldSchema],
  ...[newUri, ...newParts].map((uri): [string, AnySchemaObject] => [uri, schemaAt(newMeta, uri)]),
]);

const self = { $ref: '#' };
const count = { type: 'integer', minimum: 0 };
const anchor = { type: 'string', pattern: '^[A-Za-z_][-A-Za-z0-9._]*$' };
/** draft-07 with the additional keywords of 2020-12. */
const eitherSchema = {
  ...oldSchema,
  $id: 'either',
  properties: {
    ...oldSchema.properties,
    $defs: oldSchema.properties.definitions,
    $anchor: anchor,
    $dynamicAnchor: anchor,
    $dynamicRef: { type: 'string' },
    prefixItems: { type: 'array', minItems: 1, items: self },
    unevaluatedItems: self,
    unevaluatedProperties: self,
    dependentSchemas: { type: 'object', additionalProperties: self },
    dependentRequired: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    },
    maxContains: count,
    minContains: count,
  },
};

const newer = { schemas: [...schemas, ...newSchemas], maps: [...maps, ...newMaps], values: [...values, ...newValues] };
/** Compiles with the first schema that is checked. */
const lazily = (compile: () => ValidateFunction): (() => ValidateFunction) => {
  let compiled: ValidateFunction | undefined;
  return () => (compiled ??= compile());
};

const draft07: Dialect = {
  isSchema: lazily(() => oldMeta.compile({ $ref: oldUri })),
  schemas,
  maps,
  values,
  besideRef: 'nothing',
};
const draft2020: Dialect = {
  isSchema: lazily(() => newMeta.compile({ $ref: newUri })),
  ...newer,
  besideRef: 'everything',
};
/** For schemas without `$schema`: the keywords of both dialects count. */
const either: Dialect = { isSchema: lazily(() => oldMeta.compile(eitherSchema)), ...newer, besideRef: 'noId' };

/** The dialect that `$schema` names. Throws `SchemaError` for an unknown one. */
export const dialectOf = ($schema: unknown): Dialect => {
  if ($schema === undefined) return either;
  const uri =
    typeof $schema === 'string'
      ? $schema
          .replace(/^http(?=:.*2020-12)/, 'https')
          .replace(/^https(?=:.*draft-07)/, 'http')
          .replace(/#$/, '')
      : '';
  if (uri === oldUri) return draft07;
  if (uri === newUri) return draft2020;
  throw new SchemaError(`$schema must be draft-07 or 2020-12, not ${JSON.stringify($schema)}`);
};

/** Throws `SchemaError` if the value is no schema of the dialect. */
export const requireSchema = (schema: object | boolean, { isSchema }: Dialect): void => {
  const check = isSchema();
  if (check(schema)) return;
  const [fault] = faultsOf(check.errors ?? []);
  throw new SchemaError(`The schema is not valid: ${fault?.path || 'it'} ${fault?.message}`);
};

const annotated: Dialect = { ...draft2020, values: draft2020.values.filter((keyword) => keyword !== 'format') };

/** The dialect as its standard says: in 2020-12 `format` is an annotation, which checks nothing. */
export const withItsFormats = (dialect: Dialect): Dialect => (dialect === draft2020 ? annotated : dialect);
