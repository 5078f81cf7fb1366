import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { itInSoak } from '../../../../test/support/itInSoak.ts';
import { compileUserSchema, filters, type UserSchema } from '../../src/index.ts';

const old = 'http://json-schema.org/draft-07/schema#';
const recent = 'https://json-schema.org/draft/2020-12/schema';

const fits = (filter: UserSchema, payload: unknown): boolean => {
  assert.ok(filter.ok, 'compiled');
  return filter.matches(payload).valid;
};
const faultsOf = (schema: unknown, payload: unknown): readonly unknown[] => {
  const filter = filters(1).of(schema);
  assert.ok(filter.ok, 'compiled');
  return filter.matches(payload).errors;
};

const pinning = (value: unknown) => ({ required: ['a'], properties: { a: { const: value } } });
/** As it comes out of the log, where no two triggers share an object. */
const copied = <T>(value: T): T => JSON.parse(JSON.stringify(value));

describe('filters of triggers', () => {
  it('let all pass that are null or true, and nothing that are false', () => {
    const { of } = filters(10);
    for (const payload of [null, 1, 'a', [], {}]) {
      assert.equal(fits(of(null), payload), true);
      assert.equal(fits(of(true), payload), true);
      assert.equal(fits(of(false), payload), false);
    }
  });

  it('name each fault by its place in the payload', () => {
    const schema = { required: ['a~b/c'], properties: { list: { items: { type: 'integer' } } } };
    assert.deepEqual(faultsOf(schema, { list: [1, 'x', null] }), [
      { path: '/a~0b~1c', message: 'is required' },
      { path: '/list/1', message: 'must be integer' },
      { path: '/list/2', message: 'must be integer' },
    ]);
    assert.deepEqual(faultsOf(false, 1), [{ path: '', message: 'is not allowed' }]);
    assert.deepEqual(faultsOf(null, 1), []);
  });

  it('say why they cannot be used', () => {
    const filter = filters(1).of({ $ref: 'http://elsewhere/' });
    assert.ok(!filter.ok);
    assert.match(filter.reason, /leaves the schema/);
  });

  it('are compiled once where they are equal', () => {
    const { of } = filters(10);
    assert.equal(of(pinning(1)), of(copied(pinning(1))));
    assert.notEqual(of(pinning(1)), of(pinning(2)));
    assert.equal(of(true), of(true));
  });

  it('are kept while they are used, so many and no more', () => {
    const { of } = filters(2);
    const schemas = [pinning(1), pinning(2), pinning(3)] as const;
    const [first, second] = [of(schemas[0]), of(schemas[1])];
    assert.equal(of(schemas[0]), first);
    of(schemas[2]);
    assert.equal(of(schemas[0]), first);
    assert.notEqual(of(schemas[1]), second);
    // One that had to go is as good when it comes again.
    assert.equal(fits(of(schemas[1]), { a: 2 }), true);
    assert.equal(fits(of(schemas[1]), { a: 1 }), false);
  });

  it('are fewer when they are large', () => {
    const { of } = filters(20);
    const small = [1, 2, 3, 4].map(pinning);
    const made = small.map(of);
    const large = { properties: Object.fromEntries([...Array(900).keys()].map((n) => [`m${n}`, { maxLength: n }])) };
    const one = of(large);
    assert.ok(
      small.some((schema, i) => of(schema) !== made[i]),
      'all are still there',
    );
    assert.equal(fits(one, { m3: 'abcd' }), false);
    const patterns = {
      properties: Object.fromEntries([...Array(9).keys()].map((n) => [`p${n}`, { pattern: `a{900}${n}` }])),
    };
    of(patterns);
    assert.notEqual(of(large), one);
  });

  it('check formats, but for those that say 2020-12: there they are annotations', () => {
    const dated = { properties: { at: { format: 'date' } } };
    const { of } = filters(10);
    assert.equal(fits(of(dated), { at: 'today' }), false);
    assert.equal(fits(of({ $schema: old, ...dated }), { at: 'today' }), false);
    assert.equal(fits(of({ $schema: recent, ...dated }), { at: 'today' }), true);
    const elsewhere = compileUserSchema({ $schema: recent, ...dated });
    assert.ok(elsewhere.ok && !elsewhere.matches({ at: 'today' }).valid, 'other schemas check them');
  });

  it('have members that objects inherit', () => {
    const schema = JSON.parse(
      '{"required":["toString","__proto__"],"properties":{"toString":{"const":{"valueOf":1}},"__proto__":{"enum":[1.0,2]}}}',
    );
    const { of } = filters(10);
    assert.equal(fits(of(schema), JSON.parse('{"toString":{"valueOf":1.0},"__proto__":1}')), true);
    assert.equal(fits(of(schema), JSON.parse('{"toString":{"valueOf":1.0},"__proto__":3}')), false);
    assert.equal(fits(of(schema), {}), false);
  });

  itInSoak('take less than 12 KiB each', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const { of } = filters(1000);
    fits(of(pinning('warm')), { a: 1 });
    const before = heap();
    for (let i = 0; i < 500; i++) assert.equal(fits(of(pinning(`device ${i}`)), { a: i }), false);
    const each = (heap() - before) / 500;
    assert.ok(each < 12 * 1024, `${each} bytes`);
    assert.equal(fits(of(pinning('device 7')), { a: 'device 7' }), true);
  });
});
