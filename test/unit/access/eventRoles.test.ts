import assert from 'node:assert/strict';
import { readConfig } from '../../../src/config.ts';

describe('TRIGGER_RATE', () => {
  it('is a number from 1 to 1,000,000, 600 unless set', () => {
    assert.equal(readConfig({}).TRIGGER_RATE, 600);
    for (const rate of ['1', '1000000']) assert.equal(readConfig({ TRIGGER_RATE: rate }).TRIGGER_RATE, Number(rate));
    for (const rate of ['0', '1000001', '-5', '1.5', 'many'])
      assert.throws(() => readConfig({ TRIGGER_RATE: rate }), /TRIGGER_RATE/);
  });
});
