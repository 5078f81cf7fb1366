import assert from 'node:assert/strict';
import { useService } from '../../support/useService.ts';

describe('GET /asyncapi.json', () => {
  const service = useService();

  it('answers the document to whoever has a login', async () => {
    const { status, body, headers } = await service.ask('GET', '/asyncapi.json');
    assert.deepEqual([status, body.asyncapi], [200, '3.0.0']);
    const again = await service.ask('GET', '/asyncapi.json', undefined, { 'If-None-Match': headers.get('etag')! });
    assert.equal(again.status, 304);
    assert.equal((await service.as(null)('GET', '/asyncapi.json')).status, 401);
  });
});
