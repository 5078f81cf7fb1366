import assert from 'node:assert/strict';
import { patternFaults } from '../../../src/commands/mop/searches.ts';

describe('the patterns of one template', () => {
  it('are bounded together', async () => {
    const patterns = Array.from({ length: 300 }, (_, i) => ({ path: `/${i}`, text: `a{900}${i}` }));
    const faults = await patternFaults(patterns);
    assert.deepEqual([...new Set(faults.map(({ message }) => message))], ['All patterns together are too large']);
    assert.deepEqual(faults.at(-1)?.path, '/299');
    assert.deepEqual(await patternFaults(patterns.slice(0, 100)), []);
    const [tooLarge] = await patternFaults([{ path: '/0', text: '(a{900}){900}' }]);
    assert.deepEqual(tooLarge, { path: '/0', message: 'The pattern "(a{900}){900}" is too large' });
  });
});
