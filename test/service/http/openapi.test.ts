import assert from 'node:assert/strict';
import { formats } from '@automation-platform/bounded-schemas';
import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';
import { areas } from '../../../src/http/areas.ts';
import { openapi } from '../../../src/http/documentation/openapi.ts';
import { codesOf, readRecorded } from '../../../src/http/documentation/openapiParts.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import { sampled } from '../../support/sample.ts';
import { adminPassword } from '../../support/service.ts';

type Json = { [name: string]: any };

// an OpenAPI document

const recorded = await readRecorded();

const document = openapi(areas, { version: '0.0.0', recorded }) as Json;

describe('examples in the OpenAPI document', () => {
  const all = areas.flatMap((area) =>
    area.routes.map((row) => ({
      row,
      path: fullPathOf(area, row),
      name: `${row.method.toUpperCase()} ${fullPathOf(area, row)}`,
    })),
  );
  // Rows for issuers answer with an issuer alone: service/access/openId.test.ts.
  const answered = all.filter(({ path }) => !path.includes('/oidc/:provider/'));
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, formats, code: { optimize: false } });
  const fits = (schema: TSchema, value: unknown, about: string): void => {
    const { contentMediaType: _, ...plain } = schema as TSchema & { contentMediaType?: string };
    assert.ok(ajv.validate(plain, value), `${about}: ${ajv.errorsText()}`);
  };

  it('are there for every operation, and for none else', () => {
    assert.deepEqual(Object.keys(recorded.examples).sort(), answered.map(({ name }) => name).sort());
    for (const { name, row, path } of answered) {
      const { params = {}, body, answer } = recorded.examples[name] ?? {};
      assert.deepEqual(
        Object.keys(params),
        [...path.matchAll(/:(\w+)/g)].map(([, param]) => param),
        name,
      );
      const isFile = /^(image\/|text\/html)/.test(
        String((row.answer as { contentMediaType?: string }).contentMediaType),
      );
      assert.ok(answer !== undefined || isFile || row.empty, `${name} has no example of its answer`);
      const mustHaveBody = document.paths[path.replace(/:(\w+)/g, '{$1}')][row.method].requestBody?.required === true;
      assert.ok(body !== undefined || !mustHaveBody, `${name} has no example of its body`);
    }
  });

  it('fit the schemas of their operations', function () {
    this.timeout(300_000);
    // Ajv takes seconds to compile them all.
    for (const { name, row } of sampled(all, 100)) {
      const { body, answer } = recorded.examples[name] ?? {};
      if (answer !== undefined) fits(row.answer, answer, `answer of ${name}`);
      if (body !== undefined) fits(row.body ?? assert.fail(`${name} takes no body`), body, `body of ${name}`);
    }
  });

  it('of failures have the code that they stand for, and each is one that its operation documents', () => {
    for (const [name, failures] of Object.entries(recorded.failures)) {
      const operation = all.find((one) => one.name === name);
      assert.ok(name === '*' || operation, `There is no ${name}`);
      for (const [code, { metadata }] of Object.entries(failures)) {
        for (const fault of metadata.errors) assert.equal(fault.code, code, name);
        if (operation)
          assert.ok(
            (codesOf(operation.row, operation.path) as string[]).includes(code),
            `${name} does not name ${code}`,
          );
      }
    }
    // These are in other words for each operation.
    const own = ['invalid', 'forbidden', 'not_found', 'conflict'];
    for (const [code, { content }] of Object.entries(document.components.responses as Json)) {
      const example = content['application/json'].example as { metadata: { errors: { code: string }[] } } | undefined;
      assert.equal(example?.metadata.errors[0]?.code, own.includes(code) ? undefined : code);
    }
  });

  it('show no secret of the tests', () => {
    const text = JSON.stringify(document);
    for (const secret of [adminPassword, 'demo-password', 'scrypt', '-----BEGIN PRIVATE'])
      assert.ok(!text.includes(secret), secret);
  });
});
