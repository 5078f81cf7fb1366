import assert from 'node:assert/strict';
import { type TSchema, Type } from 'typebox';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { name } from '../../../src/domain/engine/schemas.ts';
import { validator } from '../../../src/http/engine/body.ts';

const closed = { additionalProperties: false };

/** What a value is refused for: `path: message`, in order. */
const faultsOf = (schema: TSchema, value: unknown): readonly string[] => {
  try {
    validator(schema)(value);
  } catch (error) {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, 'invalid');
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
};

const device = Type.Object(
  {
    name: name('Name of the device'),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
    tags: Type.Optional(Type.Array(Type.String())),
    kind: Type.Optional(Type.Union([Type.Literal('router'), Type.Literal('switch')])),
    since: Type.Optional(Type.String({ format: 'date-time' })),
  },
  closed,
);

describe('the validator', () => {
  it('passes what fits', () => {
    assert.deepEqual(
      faultsOf(device, { name: 'r1', port: 22, tags: [], kind: 'router', since: '2026-01-01T00:00:00.000Z' }),
      [],
    );
  });

  it('names the very field: wrong, missing, unknown', () => {
    assert.deepEqual(faultsOf(device, { port: '22', tags: ['a', 1], colour: 'red' }), [
      '/name: is required',
      '/colour: is not a known field',
      '/port: must be integer',
      '/tags/1: must be string',
    ]);
  });

  it('asks whether a known field was meant', () => {
    assert.deepEqual(faultsOf(device, { nmae: 'r1', name: 'r1', prot: 22, xyz: 1 }), [
      '/nmae: is not a known field; did you mean "name"?',
      '/prot: is not a known field; did you mean "port"?',
      '/xyz: is not a known field',
    ]);
  });

  it('refuses every wrong type of a body', () => {
    for (const wrong of [null, 1, 'x', true, [], [{}]]) assert.deepEqual(faultsOf(device, wrong), [': must be object']);
  });

  it('escapes names in pointers and cuts absurd ones', () => {
    assert.deepEqual(faultsOf(device, { name: 'r', 'a/b~c': 1 }), ['/a~1b~0c: is not a known field']);
    assert.ok(faultsOf(device, { name: 'r', ['k'.repeat(1e6)]: 1 })[0]!.length < 400);
  });

  it('does not repeat values', () => {
    assert.doesNotMatch(
      faultsOf(device, { name: 's3cret\r\nX: y', port: 's3cret', kind: 's3cret', since: 's3cret' }).join(),
      /s3cret/,
    );
  });

  it('refuses control characters and 10,000 characters in names', () => {
    assert.match(faultsOf(device, { name: 'a\r\nSet-Cookie: b' }).join(), /^\/name: must match pattern/);
    assert.deepEqual(faultsOf(device, { name: 'x'.repeat(10_000) }), ['/name: must NOT have more than 256 characters']);
    assert.deepEqual(faultsOf(device, { name: '' }), ['/name: must NOT have fewer than 1 characters']);
  });

  it('lists the allowed values', () => {
    assert.deepEqual(faultsOf(device, { name: 'r', kind: 'hub' }), ['/kind: must be one of "router", "switch"']);
  });

  it('checks formats', () => {
    assert.deepEqual(faultsOf(device, { name: 'r', since: 'yesterday' }), ['/since: must match format "date-time"']);
  });

  it('says what is wrong, in one sentence, in the message', () => {
    assert.throws(() => validator(device)({ port: 0 }), {
      message: 'The body is not valid: /name is required (and 1 more)',
    });
    assert.throws(() => validator(device)([]), { message: 'The body is not valid: it must be object' });
  });

  it('stops at twenty faults', () => {
    assert.equal(
      faultsOf(
        Type.Array(Type.String()),
        Array.from({ length: 100 }, () => 1),
      ).length,
      20,
    );
  });

  it('looks for one fault only in a value of millions, and quickly', () => {
    assert.deepEqual(faultsOf(Type.Array(Type.String()), new Array(5e6).fill(0)), ['/0: must be string']);
  }).timeout(20_000);

  describe('of unions', () => {
    const trigger = Type.Union([
      Type.Object({ type: Type.Literal('manual'), form: Type.String() }, closed),
      Type.Object({ type: Type.Literal('schedule'), every: Type.Integer() }, closed),
      Type.Object(
        {
          type: Type.Union([Type.Literal('event'), Type.Literal('eventSystem')]),
          source: Type.String(),
          topic: Type.String(),
        },
        closed,
      ),
    ]);

    it('finds fault with the variant that the type names', () => {
      assert.deepEqual(faultsOf(trigger, { type: 'schedule', every: 'day' }), ['/every: must be integer']);
      assert.deepEqual(faultsOf(trigger, { type: 'eventSystem', source: 'a', form: 'x' }), [
        '/topic: is required',
        '/form: is not a known field',
      ]);
    });

    it('names the types when there is no such one, or none at all', () => {
      assert.deepEqual(faultsOf(trigger, { type: 'cron' }), [
        '/type: must be one of "manual", "schedule", "event", "eventSystem"',
      ]);
      assert.deepEqual(faultsOf(trigger, { every: 1 }), ['/type: is required']);
    });

    it('does so in lists and beside null', () => {
      const schema = Type.Object({ triggers: Type.Array(Type.Union([trigger, Type.Null()])) });
      assert.deepEqual(faultsOf(schema, { triggers: [null, { type: 'manual', form: 1 }, 'x'] }), [
        '/triggers/1/form: must be string',
        '/triggers/2: must be object or null',
      ]);
    });

    it('tells variants apart by their JSON type', () => {
      const schema = Type.Union([
        Type.String({ minLength: 3 }),
        Type.Integer(),
        Type.Array(Type.Boolean()),
        Type.Null(),
      ]);
      assert.deepEqual(faultsOf(schema, 'x'), [': must NOT have fewer than 3 characters']);
      assert.deepEqual(faultsOf(schema, 1.5), [': must be integer']);
      assert.deepEqual(faultsOf(schema, [true, 1]), ['/1: must be boolean']);
      assert.deepEqual(faultsOf(schema, {}), [': must be string or number or array or null']);
    });

    it('says plainly that nothing fits where variants look alike', () => {
      const schema = Type.Union([Type.Object({ a: Type.String() }, closed), Type.Object({ b: Type.String() }, closed)]);
      assert.deepEqual(faultsOf(schema, { c: 1 }), [': fits none of the forms that are allowed here']);
    });

    it('follows schemas that contain themselves', () => {
      const tree = Type.Cyclic(
        { Tree: Type.Object({ name: Type.String(), children: Type.Array(Type.Ref('Tree')) }, closed) },
        'Tree',
      );
      assert.deepEqual(faultsOf(tree, { name: 'a', children: [{ name: 'b', children: [{ name: 1 }] }] }), [
        '/children/0/children/0/children: is required',
        '/children/0/children/0/name: must be string',
      ]);
    });
  });
});
