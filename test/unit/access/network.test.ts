import assert from 'node:assert/strict';
import { networkOf } from '../../../src/http/authentication/limiter.ts';

describe('the network of an address', () => {
  it('is all of an IPv4 address', () => assert.equal(networkOf('10.0.0.1'), '10.0.0.1'));
  it('is the first half of an IPv6 address, however it is written', () => {
    for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8:0:0:1:2:3:4', '2001:db8::1%eth0'])
      assert.equal(networkOf(address), '2001:db8:0:0', address);
    assert.notEqual(networkOf('2001:db8:0:1::1'), networkOf('2001:db8::1'));
  });
});
