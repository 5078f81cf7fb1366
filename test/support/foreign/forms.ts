import fc from 'fast-check';
import type { Kind } from './kind.ts';
import { always, documentOf, maybe, name, objectId, person, text, time, unknownJson, word } from './values.ts';

const transfer: Pick<Kind, 'importing' | 'exporting'> = {
  importing: (document) => ({ method: 'POST', path: '/json-forms/import/forms', body: `{"forms":[${document}]}` }),
  exporting: ({ name }) => ({
    method: 'GET',
    path: `/json-forms/forms/${encodeURIComponent(String(name))}/export?as=imported`,
  }),
};

/** Items of layouts: some lack what the API document asks for, as published ones do. */
const item: fc.Arbitrary<unknown> = fc.letrec<{ item: unknown }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    documentOf(
      maybe('nodeId', fc.uuid()),
      maybe('type', fc.constantFrom('string', 'number', 'boolean', 'integer', 'table')),
      maybe('title', text),
      maybe('description', fc.option(text)),
      maybe('placeholder', fc.oneof(text, unknownJson)),
      maybe('required', fc.oneof(fc.boolean(), unknownJson)),
      maybe('enum', fc.oneof(fc.constant([]), unknownJson)),
      maybe('default', unknownJson),
      maybe('binding', fc.boolean()),
      maybe('method', fc.constantFrom('GET', 'POST')),
    ),
    documentOf(
      always('type', fc.constantFrom('array', 'object')),
      maybe('items', fc.array(tie('item'), { maxLength: 3 })),
      maybe('title', text),
      maybe('collapsed', unknownJson),
    ),
    unknownJson,
  ),
})).item;

const struct = documentOf(
  always('type', fc.constantFrom('object', 'array')),
  always('items', fc.array(item, { maxLength: 4 })),
  maybe('nodeId', fc.uuid()),
  maybe('projectId', word),
  maybe('description', unknownJson),
);

/** Schemas of inputs: many of them cannot be compiled. */
const schema = documentOf(
  always('type', fc.constantFrom('object', 'array', 'any')),
  always('title', text),
  maybe('description', text),
  maybe('$schema', fc.constantFrom('http://json-schema.org/draft-04/schema#', 'urn:none')),
  maybe('properties', fc.oneof(unknownJson, fc.dictionary(fc.constantFrom('site', 'vlan', '10'), unknownJson))),
  maybe('required', fc.array(text, { maxLength: 2 })),
  maybe('minItems', fc.nat()),
  maybe('items', unknownJson),
  maybe('anyOf', fc.array(unknownJson, { maxLength: 2 })),
  maybe('options', unknownJson),
  maybe('exclusiveMinimum', fc.oneof(fc.boolean(), unknownJson)),
  maybe('minimum', unknownJson),
);

const namespace = documentOf(
  maybe('_id', objectId),
  maybe('name', word),
  maybe('type', unknownJson),
  maybe('accessControl', documentOf(maybe('read', fc.array(word, { maxLength: 2 })))),
);

const authored = [
  maybe('created', fc.oneof(time, text)),
  maybe('createdBy', fc.option(person)),
  maybe('lastUpdated', time),
  maybe('lastUpdatedBy', person),
];

export const forms: Kind = {
  name: 'forms',
  documents: documentOf(
    always('name', name),
    maybe('id', fc.oneof(objectId, fc.uuid(), fc.constant(''))),
    maybe('_id', fc.oneof(objectId, fc.uuid())),
    maybe('description', fc.option(text)),
    maybe('struct', struct),
    maybe('schema', schema),
    maybe('uiSchema', unknownJson),
    maybe('bindingSchema', unknownJson),
    maybe('validationSchema', unknownJson),
    maybe('version', text),
    maybe('tags', fc.array(unknownJson, { maxLength: 3 })),
    maybe('namespace', fc.option(namespace)),
    ...authored,
  ),
  ...transfer,
};

export const oldForms: Kind = {
  name: 'old forms',
  documents: documentOf(
    always('name', name),
    maybe(
      'children',
      fc.array(
        documentOf(
          maybe('id', fc.uuid()),
          maybe('key', word),
          maybe('name', text),
          maybe('type', word),
          maybe('source_type', word),
          maybe('properties', unknownJson),
          maybe('password', word),
        ),
        { maxLength: 3 },
      ),
    ),
    maybe('elements', fc.array(unknownJson, { maxLength: 3 })),
    maybe('groups', fc.array(unknownJson, { maxLength: 3 })),
    maybe('tags', fc.array(unknownJson, { maxLength: 3 })),
    ...authored,
  ),
  ...transfer,
};
