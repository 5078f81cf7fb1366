import assert from 'node:assert/strict';
import { adminPassword, startService } from '../../support/service.ts';

describe('wrong logins of one address by the dozen', () => {
  it('do not keep a right one elsewhere waiting for all of them', async () => {
    const service = await startService({ TRUST_PROXY: '127.0.0.1,::1' });
    try {
      const from = (address: string, user: string, password: string) =>
        service.ask('GET', '/authorization/whoami', undefined, { 'X-Forwarded-For': address }, { user, password });
      let [begun, answered] = [0, 0];
      const flood = Array.from({ length: 60 }, async (_, i) => {
        begun++;
        const { status } = await from('203.0.113.1', `user ${i}`, 'wrong password');
        answered++;
        return status;
      });
      while (answered < 2)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      const before = answered;
      const { status } = await from('203.0.113.2', 'admin', adminPassword);
      assert.equal(status, 200);
      assert.equal(begun, 60);
      // Without fair turns it is nearly all of them; how many are hashed while the request is on its way, the machine
      // says.
      assert.ok(answered - before < 30, `${answered - before} of the flood came first`);
      for (const wrong of await Promise.all(flood)) assert.equal(wrong, 401);
      assert.match((await service.ask('GET', '/metrics')).text, /^automation_platform_failed_logins_total 60$/m);
    } finally {
      await service.stop();
    }
  });
});
