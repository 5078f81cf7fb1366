import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { startService } from '../../support/service.ts';

describe('a decision in series that is refused or changes nothing', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const account = (name: string) => `/authorization/accounts/${name}`;
  const head = () => positionOf(service);

  it('stores nothing, and whoever edits that very resource is not told that it has changed', async () => {
    for (const username of ['ann', 'bob'])
      await service.ask('POST', '/authorization/accounts', {
        username,
        password: 'a long password',
        memberOf: ['readers'],
      });
    const etag = (await service.ask('GET', account('ann'))).headers.get('etag')!;
    const before = await head();
    assert.equal((await service.ask('PATCH', account('ann'), { memberOf: ['nobodies'] })).status, 404);
    assert.equal((await service.ask('PATCH', account('ann'), { memberOf: ['readers'] })).status, 200);
    assert.equal(
      (
        await service.ask('POST', '/authorization/accounts', {
          username: 'eve',
          password: 'a long password',
          memberOf: ['nobodies'],
        })
      ).status,
      404,
    );
    assert.equal(await head(), before);

    assert.equal((await service.ask('PATCH', account('bob'), { memberOf: ['operators'] })).status, 200);
    assert.equal((await service.ask('GET', account('ann'))).headers.get('etag'), etag);
    assert.equal((await service.ask('PATCH', account('ann'), { firstname: 'Ann' }, { 'If-Match': etag })).status, 200);
  });
});
