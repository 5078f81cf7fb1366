import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type TSchema, Type } from 'typebox';
import { areas } from '../../../src/http/areas.ts';
import { docsRoutes, openapiRoutes } from '../../../src/http/documentation/docs.ts';
import { openapi } from '../../../src/http/documentation/openapi.ts';
import { readRecorded, schemaWriter } from '../../../src/http/documentation/openapiParts.ts';
import { statusOf } from '../../../src/http/engine/errors.ts';
import type { ActionRoute, AreaRoutes, Call } from '../../../src/http/engine/route.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';

type Json = { [name: string]: any };

// an OpenAPI document

const recorded = await readRecorded();

// The golden file has no examples: those are in files of their own.
const bare = openapi(areas, { version: '0.0.0' }) as Json;

const document = openapi(areas, { version: '0.0.0', recorded }) as Json;

const golden = new URL('../../golden/openapi.json', import.meta.url);

/** Every object within, with its place. */
const within = function* (value: unknown, path = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [name, member] of Object.entries(value))
    yield* within(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
};

const resolved = (ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<any>((at, name) => at?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);

// any place in a JSON document
const operations = (of: Json): { path: string; method: string; operation: Json }[] =>
  Object.entries(of.paths as Json).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) => ({ path, method, operation: operation as Json })),
  );

// What OpenAPI 3.1 says about the parts that this document has, and that it has no others.
const closed = (required: Json, optional: Json = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
});

const of = (values: Json, names = '^[A-Za-z0-9._-]+$') => ({
  type: 'object',
  patternProperties: { [names]: values },
  additionalProperties: false,
});

const text = { type: 'string', minLength: 1 };

const ref = closed({ $ref: { type: 'string', pattern: '^#/components/' } });

const orRef = (schema: Json) => ({ if: { required: ['$ref'] }, then: ref, else: schema });

const schema = { type: 'object' };

const content = of(closed({ schema }, { example: {} }), '^[a-z]+/[a-z0-9.+-]+(; version=0\\.0\\.4)?$');

const headers = of(orRef(closed({ description: text, schema })), '^[A-Za-z-]+$');

const response = closed({ description: text }, { headers, content });

const parameter = closed(
  { name: text, in: { enum: ['path', 'query', 'header'] }, schema },
  {
    description: text,
    required: { type: 'boolean' },
    style: { const: 'deepObject' },
    explode: { const: true },
    example: {},
  },
);

const operationShape = closed(
  {
    operationId: { type: 'string', pattern: '^[a-z-]+\\.[A-Za-z0-9]+$' },
    'x-operation': text,
    tags: { type: 'array', items: text, minItems: 1, maxItems: 1 },
    summary: text,
    description: text,
    parameters: { type: 'array', items: orRef(parameter) },
    responses: { ...of(orRef(response), '^[1-5][0-9][0-9]$'), minProperties: 2 },
  },
  {
    deprecated: { const: true },
    'x-compatibility': { const: true },
    security: { type: 'array', maxItems: 0 },
    requestBody: closed({ required: { type: 'boolean' }, content }),
  },
);

const openapiShape = closed({
  openapi: { const: '3.1.0' },
  info: closed({ title: text, version: text }, { description: text }),
  servers: { type: 'array', items: closed({ url: text }) },
  tags: { type: 'array', items: closed({ name: text, 'x-displayName': text, description: text }) },
  security: { type: 'array', minItems: 1, items: of({ type: 'array' }) },
  paths: of(of(operationShape, '^(get|post|put|patch|delete)$'), '^/'),
  components: closed({
    schemas: of(schema),
    parameters: of(parameter),
    responses: of(response),
    headers: of(closed({ description: text, schema })),
    securitySchemes: of(
      closed(
        { type: { enum: ['http', 'apiKey'] } },
        { scheme: text, in: { const: 'cookie' }, name: text, description: text },
      ),
    ),
  }),
});

describe('the OpenAPI document', () => {
  it('is what it was (npm run golden after reading what changed)', () => {
    const now = `${JSON.stringify(bare, null, 1)}\n`;
    if (process.env.UPDATE_GOLDEN === '1') {
      mkdirSync(new URL('.', golden), { recursive: true });
      writeFileSync(golden, now);
    }
    assert.ok(
      readFileSync(golden, 'utf8') === now,
      'The API is described differently: run `npm run golden`, read the diff, commit it',
    );
  });

  it('has the structure of OpenAPI 3.1', () => {
    const validate = new Ajv({ strict: false, allErrors: true }).compile(openapiShape);
    assert.ok(validate(JSON.parse(JSON.stringify(document))), JSON.stringify(validate.errors?.slice(0, 5)));
  });

  it('has schemas of JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    for (const [path, object] of within({ paths: bare.paths, components: bare.components })) {
      if (object.schema) assert.ok(ajv.validateSchema(object.schema), `${path}: ${ajv.errorsText()}`);
    }
    for (const [name, named] of Object.entries(document.components.schemas))
      assert.ok(ajv.validateSchema(named as Json), `${name}: ${ajv.errorsText()}`);
  });

  it('says no large schema twice', () => {
    const said = new Set<string>();
    for (const [path, object] of within(bare)) {
      const text = JSON.stringify(object);
      if (object.type !== 'object' || text.length < 500) continue;
      assert.ok(!said.has(text), `${path} stands elsewhere, too: give the schema a title`);
      said.add(text);
    }
  });

  it('refers to nothing that is not there, and has nothing that is not referred to', () => {
    const used = new Set<string>();
    for (const [path, { $ref }] of within(document)) {
      if (typeof $ref !== 'string') continue;
      assert.ok(resolved($ref), `${path} refers to ${$ref}`);
      used.add($ref);
    }
    for (const kind of ['schemas', 'parameters', 'headers'])
      for (const name of Object.keys(document.components[kind]))
        assert.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is used nowhere`);
  });

  it('has every row once, under an id of its own', () => {
    const ids = operations(document).map(({ operation }) => operation.operationId as string);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(
      ids.toSorted(),
      areas
        .flatMap(({ area, routes: rows }) =>
          rows.map(({ name, alias }) => `${area}.${name}${alias ? 'Compatible' : ''}`),
        )
        .toSorted(),
    );
  });

  it('describes each area, and every parameter of each path', () => {
    assert.deepEqual(
      new Set((document.tags as Json[]).map(({ name }) => name)),
      new Set(areas.map(({ area, compatible }) => (compatible ? 'compatibility' : area))),
    );
    for (const { path, operation } of operations(document)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = (operation.parameters as Json[]).map((one) => (one.$ref ? (resolved(one.$ref) as Json) : one));
      assert.deepEqual(
        parameters.filter((one) => one.in === 'path').map(({ name, required }) => required && name),
        named,
        path,
      );
      assert.equal(new Set(parameters.map(({ name, in: where }) => `${where} ${name}`)).size, parameters.length, path);
    }
  });

  it('says of each operation who may call it and how it can fail', () => {
    const statuses = Object.values(statusOf).map(String);
    for (const area of areas) {
      for (const row of area.routes) {
        const { responses, security } = document.paths[fullPathOf(area, row).replace(/:(\w+)/g, '{$1}')][
          row.method
        ] as Json;
        assert.deepEqual(security, row.access === 'open' ? [] : undefined);
        const mayBeForbidden = typeof row.access !== 'string' || ['changePassword', 'createToken'].includes(row.name);
        assert.equal('403' in responses, mayBeForbidden, row.name);
        assert.ok('405' in responses, row.name);
        assert.equal('413' in responses && '415' in responses, row.method !== 'get', row.name);
        for (const status of Object.keys(responses))
          assert.ok(['200', '204', '304', ...statuses].includes(status), status);
      }
    }
  });

  it('says that a node that is not ready answers in a form of its own', () => {
    const { content } = document.paths['/health/ready'].get.responses[503] as Json;
    assert.deepEqual(content['application/json'].example, { status: 'down' });
  });

  it('describes rare failures in the words of the code that refuses', () => {
    const sources = readdirSync(new URL('../../../src/', import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('http/documentation'))
      .map((file) => readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8'))
      .join('');
    for (const code of ['limited', 'unavailable'])
      assert.ok(
        sources.includes(document.components.responses[code].content['application/json'].example.message),
        code,
      );
    const { message } = document.components.responses.adapter_failed.content['application/json'].example as Json;
    const [adapter, reason] = message.split(': ');
    assert.equal(adapter, 'Adapter "core"');
    assert.ok(sources.includes(`'${reason}'`), reason);
  });

  it('has Basic first in the login dialog, and a title for each area', () => {
    assert.deepEqual(Object.keys(document.components.securitySchemes), ['basic', 'bearer', 'cookie']);
    assert.deepEqual(document.security[0], { basic: [] });
    assert.equal(document.tags[0].description.split('.')[0], '**Login and health');
  });

  it('has examples that tell something: no fillers in the place of names and values', () => {
    const texts = [...within(recorded.examples)].flatMap(([at, object]) =>
      Object.entries(object).flatMap(([name, value]) => [
        ...(name.length < 2 && !/^\d$/.test(name) ? [`${at}: ${name}`] : []),
        ...(/^\w$|^(temp|temporary|imported|other|foo|bar|test|dummy)$/i.test(String(value)) &&
        typeof value === 'string'
          ? [`${at}/${name}: ${value}`]
          : []),
      ]),
    );
    assert.deepEqual(texts, []);
  });

  it('describes the dialect of lists', () => {
    const parameters = document.paths['/group-mappings'].get.parameters as Json[];
    assert.deepEqual(
      parameters.map(({ name, $ref }) => name ?? $ref.split('/').at(-1)),
      [
        'multiEquals',
        'multiStartsWith',
        'multiContains',
        'expand',
        'skip',
        'limit',
        'sort',
        'order',
        'asOf',
        'X-Request-Id',
        'If-None-Match',
        'X-Min-Position',
      ],
    );
    const named = Object.fromEntries(parameters.map((one) => [one.name, one]));
    assert.deepEqual(Object.keys(named.multiContains!.schema.properties), [
      'externalGroup',
      'name',
      'provenance',
      'platformGroups',
    ]);
    assert.deepEqual(named.limit!.schema, { type: 'integer', minimum: 1, maximum: 1000, default: 25 });
    assert.deepEqual(named.sort!.schema, { enum: ['name'], default: 'name' });
  });

  it('says which headers a change takes and gives', () => {
    const { parameters, responses, requestBody } = document.paths['/group-mappings/{provenance}/{externalGroup}']
      .patch as Json;
    assert.deepEqual(
      (parameters as Json[]).slice(2).map(({ $ref }) => $ref.split('/').at(-1)),
      ['X-Request-Id', 'If-Match', 'Idempotency-Key'],
    );
    assert.deepEqual(Object.keys(responses['200'].headers), ['X-Request-Id', 'ETag', 'X-Event-Position']);
    assert.deepEqual(Object.keys(responses), [
      '200',
      '400',
      '401',
      '403',
      '404',
      '405',
      '409',
      '412',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
    assert.equal(requestBody.required, true);
  });
});

describe('schemas in the OpenAPI document', () => {
  const written = (given: TSchema) => {
    const components = {};
    return { schema: schemaWriter(components)(given), components };
  };

  it('stand once when they have a title', () => {
    const named = Type.Object({ title: Type.String({ title: 'Name' }) }, { title: 'Thing' });
    assert.deepEqual(written(Type.Array(named)), {
      schema: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
      components: {
        Name: { type: 'string', title: 'Name' },
        Thing: {
          type: 'object',
          title: 'Thing',
          required: ['title'],
          properties: { title: { $ref: '#/components/schemas/Name' } },
        },
      },
    });
  });

  it('must not share a title', () => {
    assert.throws(() => written(Type.Tuple([Type.String({ title: 'A' }), Type.Integer({ title: 'A' })])), /called A/);
  });

  it('refer to themselves when they contain themselves', () => {
    const tree = Type.Cyclic({ Tree: Type.Object({ children: Type.Array(Type.Ref('Tree')) }) }, 'Tree');
    assert.deepEqual(written(tree), {
      schema: { $ref: '#/components/schemas/Tree' },
      components: {
        Tree: {
          type: 'object',
          required: ['children'],
          properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
        },
      },
    });
  });

  it('are tuples and records as 2020-12 says them; data in them stays as it is', () => {
    assert.deepEqual(written(Type.Tuple([Type.String()])).schema, {
      type: 'array',
      minItems: 1,
      prefixItems: [{ type: 'string' }],
      items: false,
    });
    assert.deepEqual(written(Type.Record(Type.String(), Type.Integer())).schema, {
      type: 'object',
      additionalProperties: { type: 'integer' },
    });
    assert.deepEqual(
      written(Type.Unsafe({ const: { title: 'x', items: [1] }, properties: { items: { type: 'string' } } })).schema,
      { const: { title: 'x', items: [1] }, properties: { items: { type: 'string' } } },
    );
  });
});

describe('the page at /docs', () => {
  const answerOf = async ({ routes: rows }: AreaRoutes, path: string) => {
    const row = rows.find((one) => one.path === path) as ActionRoute | undefined;
    return row ? row.run({} as Call, {} as never) : assert.fail(`no row ${path}`);
  };

  it('needs nothing but this service', async () => {
    const { text: page, type, headers } = await answerOf(docsRoutes, '/');
    assert.equal(type, 'text/html; charset=utf-8');
    assert.match(String(headers!['Content-Security-Policy']), /default-src 'none'.*script-src 'self';/);
    assert.doesNotMatch(String(page), /https?:|<script>|\son\w+=|style=/);
    const files = [...String(page).matchAll(/(?:src|href)="docs(\/[^"]+)"/g)].map(([, path]) => path!);
    assert.equal(files.length, 4);
    for (const path of files) assert.ok((await answerOf(docsRoutes, path)).text!.length > 50, path);
  });

  it('shows the document that the service describes itself by', async () => {
    assert.match(String((await answerOf(docsRoutes, '/start.js')).text), /url: 'openapi\.json'/);
    const described = openapiRoutes(() => areas, { version: '0.0.0' });
    assert.equal(fullPathOf(described, described.routes[0]!), '/openapi.json');
    assert.deepEqual(JSON.parse(String((await answerOf(described, '/')).text)), JSON.parse(JSON.stringify(document)));
  });
});
