import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { areas } from '../../../src/http/areas.ts';
import { openapi } from '../../../src/http/documentation/openapi.ts';
import { version } from '../../../src/version.ts';
import { breaks } from '../../support/openapiDiff.ts';

type Json = { readonly [name: string]: any }; // an OpenAPI document

const folder = new URL('../../../docs/openapi/', import.meta.url);
const read = (file: string): Json => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Json;

/** A document with one operation, PUT /things/{id}; the members given take the place of its own. */
const documentOf = (more: Json, schemas: Json = {}): Json => ({
  paths: {
    '/things/{id}': {
      put: {
        'x-operation': 'updateThing',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { content: json({ type: 'object' }) } },
        ...more,
      },
    },
  },
  components: { schemas },
});
const json = (schema: Json): Json => ({ 'application/json': { schema } });
const sending = (schema: Json, schemas?: Json) => documentOf({ requestBody: { content: json(schema) } }, schemas);
const answering = (schema: Json, schemas?: Json) =>
  documentOf({ responses: { 200: { content: json(schema) } } }, schemas);
const object = (properties: Json, required: readonly string[] = [], more: Json = {}): Json => ({
  type: 'object',
  properties,
  required,
  ...more,
});
const changes = (before: Json, after: Json): readonly string[] => breaks(before, after).map(({ change }) => change);
const text = { type: 'string' };

describe('the difference of two API documents', () => {
  it('names the operation that is gone', () => {
    assert.deepEqual(breaks(documentOf({}), { paths: {}, components: {} }), [
      { operation: 'PUT /things/{id}', name: 'updateThing', change: 'the operation is gone' },
    ]);
  });

  it('is none where nothing changed, or a parameter of the path has another name', () => {
    const renamed = { paths: { '/things/{thing}': documentOf({}).paths['/things/{id}'] } };
    assert.deepEqual(changes(documentOf({}), documentOf({})), []);
    assert.deepEqual(changes(documentOf({}), renamed), []);
  });

  it('names parameters that are gone, required or narrower', () => {
    const withQuery = (more: Json) => documentOf({ parameters: [{ name: 'a', in: 'query', schema: text, ...more }] });
    assert.deepEqual(changes(withQuery({}), documentOf({ parameters: [] })), ['query a is gone']);
    assert.deepEqual(changes(withQuery({}), withQuery({ required: true })), ['query a is required now']);
    assert.deepEqual(changes(documentOf({}), withQuery({ required: true })), ['query a is required now']);
    assert.deepEqual(changes(documentOf({}), withQuery({})), []);
    assert.deepEqual(changes(withQuery({}), withQuery({ schema: { type: 'string', maxLength: 5 } })), [
      'query a is narrower: maxLength',
    ]);
  });

  it('names members of bodies that are gone, required or of another type', () => {
    const before = sending(object({ a: text, b: { type: 'integer' } }));
    assert.deepEqual(changes(before, sending(object({ a: text }))), ['body/b is gone']);
    assert.deepEqual(changes(before, sending(object({ a: text, b: { type: 'integer' } }, ['b']))), [
      'body/b is required now',
    ]);
    assert.deepEqual(changes(before, sending(object({ a: text, b: text }))), ['body/b is string and not integer']);
    assert.deepEqual(changes(before, sending(object({ a: text, b: { type: 'number' }, c: text }))), []);
    assert.deepEqual(changes(before, documentOf({})), ['the body is gone']);
    assert.deepEqual(changes(documentOf({}), documentOf({ requestBody: { required: true, content: json({}) } })), [
      'the body is required now',
    ]);
  });

  it('names what may be sent no longer', () => {
    const oneOf = (...values: string[]) => sending({ enum: values });
    assert.deepEqual(changes(oneOf('a', 'b'), oneOf('a')), ['body is narrower: its values']);
    assert.deepEqual(changes(oneOf('a'), oneOf('a', 'b')), []);
    assert.deepEqual(changes(sending(text), sending({ ...text, pattern: '^a' })), ['body is narrower: pattern']);
    assert.deepEqual(changes(sending(object({})), sending(object({}, [], { additionalProperties: false }))), [
      'body is narrower: no other members',
    ]);
    assert.deepEqual(changes(sending({ anyOf: [text, { type: 'null' }] }), sending(text)), [
      'body: an alternative is gone or narrower',
    ]);
    assert.deepEqual(changes(sending(text), sending({ anyOf: [text, { type: 'null' }] })), []);
  });

  it('names members of answers that are gone, may be missing or have another type', () => {
    const before = answering(object({ a: text, b: { type: 'number' } }, ['a']));
    assert.deepEqual(changes(before, answering(object({ a: text }, ['a']))), ['answer/b is gone']);
    assert.deepEqual(changes(before, answering(object({ a: text, b: { type: 'number' } }))), [
      'answer/a may be missing now',
    ]);
    assert.deepEqual(changes(before, answering(object({ a: text, b: text }, ['a']))), [
      'answer/b is string and not number',
    ]);
    assert.deepEqual(changes(before, answering(object({ a: text, b: { type: 'integer' }, c: text }, ['a', 'c']))), []);
    assert.deepEqual(changes(answering(text), answering({ anyOf: [text, { type: 'null' }] })), [
      'answer: there is another alternative',
    ]);
    assert.deepEqual(changes(answering({ type: 'array', items: text }), answering({ type: 'array', items: {} })), [
      'answer/* is anything and not string',
    ]);
  });

  it('names an answer that is gone; a failure that cannot happen any more breaks nobody', () => {
    const gone = documentOf({ responses: { 204: {} } });
    assert.deepEqual(changes(documentOf({}), gone), ['status 200 is gone']);
    const html = documentOf({ responses: { 200: { content: { 'text/html': { schema: text } } } } });
    assert.deepEqual(changes(documentOf({}), html), ['answer as application/json is gone']);
    const failing = documentOf({ responses: { 200: { content: json({ type: 'object' }) }, 409: {} } });
    assert.deepEqual(changes(failing, documentOf({})), []);
  });

  it('looks behind references, and into schemas that contain themselves', () => {
    const tree = (value: Json): Json => ({
      Tree: object({ value, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }),
    });
    const ref = { $ref: '#/components/schemas/Tree' };
    assert.deepEqual(changes(answering(ref, tree(text)), answering(ref, tree(text))), []);
    assert.deepEqual(changes(answering(ref, tree(text)), answering(ref, tree({ type: 'null' }))), [
      'answer/value is null and not string',
    ]);
  });
});

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
const released = readdirSync(folder)
  .map((file) => file.replace('.json', ''))
  .sort(inOrder);

/** What the CHANGELOG says under "Breaking" of versions after this one. */
const breakingSince = (changelog: string, last: string): string => {
  const [since = ''] = changelog.split(new RegExp(`^## \\[${last.replaceAll('.', '\\.')}\\]`, 'm'));
  const sections = since.split(/^#{2,3} /m);
  return sections.filter((section) => section.startsWith('Breaking')).join('\n');
};

describe('since the last version', () => {
  const document = JSON.parse(JSON.stringify(openapi(areas, { version }))) as Json;
  before(() => {
    const file = new URL(`${version}.json`, folder);
    if (process.env.RELEASE === '1' && !existsSync(file)) writeFileSync(file, `${JSON.stringify(document, null, 1)}\n`);
  });

  it('no operation has changed in a way that breaks clients, unless the CHANGELOG says so', () => {
    const last = released.at(-1) ?? assert.fail('docs/openapi has no document');
    const breaking = breakingSince(readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8'), last);
    const unsaid = breaks(read(`${last}.json`), document).filter(
      ({ operation, name }) => !breaking.includes(`\`${operation}\``) && !breaking.includes(`\`${name}\``),
    );
    assert.deepEqual(
      unsaid.map(({ operation, change }) => `${operation}: ${change}`),
      [],
      `These break clients of ${last}: undo them, or name the operations under "### Breaking" in CHANGELOG.md`,
    );
  });

  it('the CHANGELOG is read up to the last version', () => {
    const changelog = '# C\n\n## [Unreleased]\n\n### Breaking\n\n- `GET /a` is gone\n\n### Added\n\n- `GET /b`\n\n';
    const older = '## [0.1.0] - 2026-01-01\n\n### Breaking\n\n- `GET /c`\n';
    assert.equal(breakingSince(changelog + older, '0.1.0').trim(), 'Breaking\n\n- `GET /a` is gone');
  });
});
