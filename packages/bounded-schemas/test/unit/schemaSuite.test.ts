import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFilter, compileUserSchema, type UserSchema } from '../../src/index.ts';

type Test = { readonly description: string; readonly data: unknown; readonly valid: boolean };
type Group = { readonly description: string; readonly schema: unknown; readonly tests: readonly Test[] };

const folder = process.env.TEST_JSON_SCHEMA_SUITE ?? '';
const dialects = [
  { name: 'draft7', $schema: 'http://json-schema.org/draft-07/schema#', least: 900 },
  { name: 'draft2020-12', $schema: 'https://json-schema.org/draft/2020-12/schema', least: 1200 },
];
// Where the suite says that its documents lie; in fact they lie in its folder `remotes`.
const remote = 'http://localhost:1234/';

/** The schema says its dialect, as the suite's folders do. */
const inDialect = (schema: unknown, $schema: string): unknown =>
  typeof schema === 'object' && schema !== null && !('$schema' in schema) ? { $schema, ...schema } : schema;

const filesOf = (dialect: string): readonly string[] =>
  readdirSync(join(folder, 'tests', dialect)).filter((file) => file.endsWith('.json'));
const groupsIn = (dialect: string, file: string): readonly Group[] =>
  JSON.parse(readFileSync(join(folder, 'tests', dialect, file), 'utf8'));

/** Whether a schema or dialect that the schema names is a document of the suite. */
const isRemote = (schema: unknown, base = remote): boolean => {
  if (typeof schema !== 'object' || schema === null) return false;
  const { $id, $ref, $schema } = schema as Readonly<Record<string, unknown>>;
  const here = typeof $id === 'string' && URL.canParse($id, base) ? new URL($id, base).href : base;
  const names = [$ref, $schema].some((name) => {
    if (typeof name !== 'string' || !URL.canParse(name, here)) return false;
    const { href, pathname } = new URL(name, here);
    return href.startsWith(remote) && pathname.endsWith('.json') && existsSync(join(folder, 'remotes', pathname));
  });
  return names || Object.values(schema).some((part) => isRemote(part, here));
};

type Compile = (schema: unknown) => UserSchema;

/** What goes wrong with a group: one line per test. */
const wrongIn = ({ description, schema, tests }: Group, $schema: string, compile: Compile): readonly string[] => {
  const made = compile(inDialect(schema, $schema));
  return tests.flatMap((test) => {
    if (!made.ok) return `refused: ${description}: ${made.reason}`;
    if (made.matches(test.data).valid === test.valid) return [];
    return `wrongly ${test.valid ? 'refused' : 'accepted'}: ${description}: ${test.description}`;
  });
};

/**
 * https://github.com/json-schema-org/JSON-Schema-Test-Suite, a clone of which TEST_JSON_SCHEMA_SUITE names. No npm
 * package has it whole.
 */
describe('the JSON Schema Test Suite', () => {
  const unnamed = folder ? '' : ' (TEST_JSON_SCHEMA_SUITE names no clone of it)';
  before(function () {
    if (!folder) this.skip();
  });

  for (const { name, $schema, least } of dialects) {
    const groups = () =>
      filesOf(name).flatMap((file) =>
        groupsIn(name, file).map((group) => ({ file, group, isRemote: isRemote(group.schema) })),
      );

    it(`${name}: as filters of triggers, all required tests without remote references${unnamed}`, () => {
      const own = groups().filter((one) => !one.isRemote);
      const wrong = own.flatMap(({ group }) => wrongIn(group, $schema, (schema) => compileFilter(schema).filter));
      assert.deepEqual(wrong, []);
      const count = own.reduce((sum, { group }) => sum + group.tests.length, 0);
      assert.ok(count >= least, `only ${count} tests`);
    });

    it(`${name}: elsewhere the same, but formats are always checked${unnamed}`, () => {
      const own = groups().filter((one) => !one.isRemote);
      for (const { file, group } of own) {
        const wrong = wrongIn(group, $schema, compileUserSchema);
        const expected = file === 'format.json' ? /^wrongly refused: .* is only an annotation by default$/ : /^$/;
        for (const each of wrong) assert.match(each, expected);
      }
    });

    it(`${name}: remote references are refused in words${unnamed}`, () => {
      const others = groups().filter((one) => one.isRemote);
      assert.ok(others.length > 0);
      for (const { group } of others) {
        const made = compileUserSchema(inDialect(group.schema, $schema));
        assert.ok(!made.ok, group.description);
        assert.match(made.reason, /leaves the schema|must be draft-07 or 2020-12/);
      }
    });
  }
});
