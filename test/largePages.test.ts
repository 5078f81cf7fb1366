import assert from 'node:assert/strict';
import { ok, refused } from './people.ts';
import { startService } from './service.ts';

describe('a page of large documents', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const path = '/operations-manager/jobs';

  it('is refused rather than built beyond 32 MiB, and a smaller one is given', async () => {
    const start = JSON.stringify({ workflow: 'large', options: { variables: { text: 'x'.repeat(1_000_000) } } });
    for (let i = 0; i < 34; i++) ok(await service.ask('POST', `${path}/start`, start));
    refused(await service.ask('GET', `${path}?limit=34`), 400, /"limit"/);
    assert.equal(ok(await service.ask('GET', `${path}?limit=33`)).data.length, 33);
    assert.equal(ok(await service.ask('GET', `${path}?limit=33&skip=33`)).data.length, 1);
  });
});
