import assert from 'node:assert/strict';
import { startService, type TestService } from '../../support/service.ts';

describe('GET /asyncapi.json', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('answers the document to whoever has a login', async () => {
    const { status, body, headers } = await service.ask('GET', '/asyncapi.json');
    assert.deepEqual([status, body.asyncapi], [200, '3.0.0']);
    const again = await service.ask('GET', '/asyncapi.json', undefined, { 'If-None-Match': headers.get('etag')! });
    assert.equal(again.status, 304);
    assert.equal((await service.as(null)('GET', '/asyncapi.json')).status, 401);
  });
});
