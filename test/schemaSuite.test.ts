import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileUserSchema } from '../src/commands/user-schemas/userSchema.ts';

type Group = {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
};

const folder = process.env.TEST_JSON_SCHEMA_SUITE;
const dialects = [
  { name: 'draft7', $schema: 'http://json-schema.org/draft-07/schema#', least: 0.98 },
  { name: 'draft2020-12', $schema: 'https://json-schema.org/draft/2020-12/schema', least: 0.97 },
];

/** The schema says its dialect, as the suite's folders do. */
const inDialect = (schema: unknown, $schema: string): unknown =>
  typeof schema === 'object' && schema !== null && !('$schema' in schema) ? { $schema, ...schema } : schema;

const outcomesOf = (file: string, $schema: string): readonly string[] =>
  (JSON.parse(readFileSync(file, 'utf8')) as readonly Group[]).flatMap(({ description, schema, tests }) => {
    const made = compileUserSchema(inDialect(schema, $schema));
    return tests.map((test) => {
      if (!made.ok) return `refused: ${description}: ${made.reason}`;
      if (made.matches(test.data).valid === test.valid) return 'right';
      return `wrongly ${test.valid ? 'refused' : 'accepted'}: ${description}: ${test.description}`;
    });
  });

/**
 * https://github.com/json-schema-org/JSON-Schema-Test-Suite, a clone of which TEST_JSON_SCHEMA_SUITE names. No npm
 * package has it whole.
 */
describe('the JSON Schema Test Suite', () => {
  for (const { name, $schema, least } of dialects) {
    it(`${name}: required tests without remote references${folder ? '' : ' (TEST_JSON_SCHEMA_SUITE names no clone of it)'}`, function () {
      if (!folder) return this.skip();
      const files = readdirSync(join(folder, 'tests', name)).filter(
        (file) => file.endsWith('.json') && file !== 'refRemote.json',
      );
      const outcomes = files.flatMap((file) => outcomesOf(join(folder, 'tests', name, file), $schema));
      const wrong = outcomes.filter((outcome) => outcome !== 'right');
      assert.deepEqual(
        wrong.filter((outcome) => outcome.startsWith('wrongly accepted')),
        [],
      );
      assert.ok(outcomes.length > 500, `only ${outcomes.length} tests`);
      assert.ok(1 - wrong.length / outcomes.length >= least, wrong.join('\n'));
    });
  }
});
