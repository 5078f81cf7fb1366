import fc from 'fast-check';
import type { Kind } from './kind.ts';
import {
  always,
  documentOf,
  json,
  maybe,
  name,
  object,
  objectId,
  person,
  text,
  time,
  unknownJson,
  word,
} from './values.ts';

const orNull = (value: fc.Arbitrary<unknown>) => fc.oneof(value, fc.constant(null));

const action = documentOf(
  always('name', word),
  always('type', fc.constantFrom('import', 'create', 'update', 'delete')),
  maybe('_id', objectId),
  maybe('workflow', orNull(fc.oneof(word, objectId, fc.constant('')))),
  maybe('preWorkflowJst', orNull(objectId)),
  maybe('postWorkflowJst', orNull(objectId)),
  maybe('description', orNull(text)),
  maybe('inputSchema', object),
);

export const resourceModels: Kind = {
  name: 'resource models',
  documents: documentOf(
    always('name', name),
    always('schema', object),
    maybe('_id', fc.oneof(objectId, word)),
    maybe('description', orNull(text)),
    maybe('actions', fc.array(action, { maxLength: 3 })),
    maybe('created', fc.oneof(time, json)),
    maybe('createdBy', orNull(person)),
    maybe('lastUpdated', time),
    maybe('lastUpdatedBy', person),
    maybe('vendor', unknownJson),
  ),
  importing: (document) => ({
    method: 'POST',
    path: '/lifecycle-manager/resources/import',
    body: `{"model":${document}}`,
  }),
  exporting: ({ name }) => ({
    method: 'GET',
    path: `/lifecycle-manager/resources/${encodeURIComponent(String(name))}/export?as=imported`,
  }),
  inside: (answer) => answer.slice(answer.indexOf('"data":') + '"data":'.length, answer.lastIndexOf(',"metadata":')),
};
