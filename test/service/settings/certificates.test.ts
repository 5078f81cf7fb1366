import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { gateway, issuing, otherGateway } from '../../support/certificates.ts';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, refused } from '../../support/people.ts';
import { keys } from '../../support/samples/certificates.ts';
import { useService } from '../../support/useService.ts';

describe('certificates over HTTP', () => {
  const service = useService({ LOG_LEVEL: 'trace' });
  const path = '/gateway_manager/v1/certificates';
  const post = (body: object, headers = {}) => service.ask('POST', path, body, headers);
  const aliases = async (query = '') =>
    ok(await service.ask('GET', `${path}${query}`)).results.map(
      ({ alias, contractId }: Record<string, string>) => `${contractId}/${alias}`,
    );
  beforeEach(async () => {
    for (const { alias, contractId } of ok(await service.ask('GET', path)).results)
      ok(await service.ask('DELETE', `${path}/${encodeURIComponent(alias)}?contract_id=${contractId}`));
  });

  it('are added, listed and deleted', async () => {
    const answer = ok(
      await post({ raw_certificate: `${gateway}${issuing}`, contract_id: 'c 1', alias: 'gateway fra' }),
    );
    const { alias, contractId, subject, validTo } = answer.results;
    assert.deepEqual(
      [answer.state, Object.keys(answer.results).length, alias, contractId, subject, validTo],
      ['Success', 8, 'gateway fra', 'c 1', 'O=Example Networks, CN=gateway-1.example.net', '2120-01-01T00:00:00.000Z'],
    );
    assert.deepEqual(ok(await service.ask('GET', `${path}?multiContains[subject]=GATEWAY-1`)), {
      results: [answer.results],
      total: 1,
    });
    assert.deepEqual(ok(await service.ask('DELETE', `${path}/gateway%20fra`)), {
      status: 'OK',
      message: 'Successfully deleted certificate',
      data: answer.results,
    });
    refused(await service.ask('DELETE', `${path}/gateway%20fra`), 404);
    assert.deepEqual(await aliases(), []);
  });

  it('have the fingerprint for an alias, and no contract, when none is given', async () => {
    const { results } = ok(await post({ raw_certificate: gateway }));
    assert.deepEqual([results.alias, results.contractId], [new X509Certificate(gateway).fingerprint256, '']);
    const again = await post({ raw_certificate: gateway });
    assert.deepEqual(ok(again).results, results);
    assert.equal(again.headers.get('etag'), '"0"');
    ok(await service.ask('DELETE', `${path}/${results.fingerprint256}`));
  });

  it('are no change when added again, and a conflict when another has the alias in that contract', async () => {
    const first = await post({ raw_certificate: gateway, alias: 'a' });
    const again = await post({ raw_certificate: gateway, alias: 'a', contract_id: '' });
    assert.deepEqual(
      [ok(again), again.headers.get('x-event-position')],
      [ok(first), first.headers.get('x-event-position')],
    );
    refused(await post({ raw_certificate: otherGateway, alias: 'a' }), 409, /"\/alias"/);
    ok(await post({ raw_certificate: otherGateway, alias: 'a', contract_id: 'c' }));
    assert.deepEqual(await aliases('?sort=alias'), ['/a', 'c/a']);
  });

  it('with an alias of several contracts are deleted by both, else conflict', async () => {
    for (const contract_id of ['', 'c']) ok(await post({ raw_certificate: gateway, alias: 'a', contract_id }));
    refused(await service.ask('DELETE', `${path}/a`), 409, /contracts.*"","c"/);
    ok(await service.ask('DELETE', `${path}/a?contract_id=c`));
    refused(await service.ask('DELETE', `${path}/a?contract_id=c`), 404);
    ok(await service.ask('DELETE', `${path}/a`));
    for (const [alias, contract_id] of [
      ['x', ''],
      ['y', 'x'],
    ])
      ok(await post({ raw_certificate: gateway, alias, contract_id }));
    refused(await service.ask('DELETE', `${path}/${encodeURIComponent('x y')}`), 404);
  });

  it('never keep, log or repeat a private key', async () => {
    const lines: string[] = [];
    for (const key of keys()) {
      const secret = key.split('\n')[1]!;
      lines.push(secret);
      const short = `-----BEGIN PRIVATE KEY-----${secret}`;
      for (const body of [
        { raw_certificate: key },
        { raw_certificate: `${gateway}${key}`, alias: 'a' },
        { raw_certificate: gateway, alias: short },
        { raw_certificate: gateway, contract_id: short },
      ]) {
        const answer = await post(body, { 'Idempotency-Key': 'key' });
        refused(answer, 400, /private key/);
        assert.ok(!answer.text.includes(secret));
      }
    }
    const kept =
      service.lines.join('') +
      keptFiles(service.folder)
        .map(({ bytes }) => bytes.toString('latin1'))
        .join('');
    assert.ok(kept.includes('addCertificate'));
    for (const line of lines) assert.ok(!kept.includes(line));
  });
});
