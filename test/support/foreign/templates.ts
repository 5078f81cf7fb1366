import fc from 'fast-check';
import type { Kind } from './kind.ts';
import { always, documentOf, json, maybe, name, objectId, person, text, time } from './values.ts';

/** A member with values as they should be, and some that this service cannot use. */
const odd = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: value }, fc.constant(null), json);

const body = fc.oneof(
  text,
  fc.constantFrom(
    '',
    'hostname {{ hostname }}\n',
    '{% for i in interfaces %}\r\ninterface {{ i.name }}\r\n{% endfor %}',
    '{% include "Banner" %}',
    '{% if',
    'Value NAME (\\S+)\n\nStart\n  ^${NAME} -> Record\n',
  ),
);

export const templates: Kind = {
  name: 'templates',
  documents: documentOf(
    always('name', name),
    always('template', body),
    maybe('_id', fc.oneof({ weight: 6, arbitrary: objectId }, fc.uuid())),
    maybe('type', fc.constantFrom('jinja2', 'textfsm', 'other')),
    maybe('description', odd(text)),
    maybe('command', odd(fc.constantFrom('', 'show interfaces'))),
    maybe('data', json),
    maybe('group', odd(text)),
    maybe('tags', odd(fc.array(json, { maxLength: 3 }))),
    maybe('version', fc.oneof(fc.nat(), json)),
    maybe('created', odd(time)),
    maybe('createdBy', person),
    maybe('lastUpdated', odd(time)),
    maybe('lastUpdatedBy', person),
  ),
  importing: (document) => ({
    method: 'POST',
    path: '/template_builder/import/templates',
    body: `{"templates":[${document}]}`,
  }),
  exporting: ({ name }) => ({
    method: 'GET',
    path: `/template_builder/templates/${encodeURIComponent(String(name))}/export?as=imported`,
  }),
};
