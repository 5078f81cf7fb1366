import assert from 'node:assert/strict';
import { startService } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

// Needs what `npm run check` compiles.
describe('console: its files', () => {
  const service = useService();
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${service.url}${path}`, { headers });

  it('come without a login, compressed, and once as long as they are the same', async () => {
    const page = await get('/console');
    const text = await page.text();
    assert.equal(page.status, 200);
    assert.match(
      page.headers.get('content-security-policy')!,
      /^default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    const paths = [...text.matchAll(/(?:href|src)="(console\/[^"]+)"/g)].map(([, path]) => `/${path}`);
    assert.ok(paths.length > 3, text);
    for (const path of ['/console', ...paths])
      for (const coding of ['br', 'gzip']) {
        const answer = await get(path, { 'Accept-Encoding': coding });
        const size = (await answer.arrayBuffer()).byteLength;
        assert.equal(answer.status, 200, path);
        if (size > 1500) assert.equal(answer.headers.get('content-encoding'), coding, path);
        const tag = answer.headers.get('etag')!;
        const again = await get(path, { 'Accept-Encoding': coding, 'If-None-Match': tag });
        assert.equal(again.status, 304, path);
      }
    assert.equal((await get('/console/none.js')).status, 404);
  });

  it('are left out by CONSOLE=off, and nothing else is', async () => {
    const without = await startService({ CONSOLE: 'off' });
    try {
      for (const path of ['/console', '/console/icon.svg']) {
        assert.equal((await get(path)).status, 200, path);
        assert.equal((await without.as(null)('GET', path)).status, 404, path);
      }
      assert.deepEqual(
        (await without.ask('GET', '/whoami')).body.methods,
        (await service.ask('GET', '/whoami')).body.methods,
      );
    } finally {
      await without.stop();
    }
  });
});
