import assert from 'node:assert/strict';
import { checker } from '../../src/index.ts';

describe('The check of our own schemas', () => {
  it('is one for each schema', () => {
    const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
    assert.equal(checker(schema), checker(schema));
    assert.notEqual(checker(schema), checker({ ...schema }));
  });

  it('names the faults of the variant that the value means', () => {
    const variant = (type: string, member: string) => ({
      type: 'object',
      required: ['type', member],
      properties: { type: { const: type }, [member]: { type: 'string' } },
    });
    const check = checker({ anyOf: [variant('ssh', 'user'), variant('http', 'url')] });
    assert.deepEqual(check({ type: 'http', url: 'https://a' }), []);
    assert.deepEqual(
      check({ type: 'http', url: 7 }).map(({ path }) => path),
      ['/url'],
    );
  });
});
