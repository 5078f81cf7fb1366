import assert from 'node:assert/strict';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('Agents over HTTP', () => {
  let service: TestService;
  let who: People;
  const path = '/agent-session-manager/agents';
  const webhook = {
    name: 'Webhook',
    description: 'Calls',
    inputSchema: { type: 'object', required: ['site'] },
    runner: 'webhook',
    url: 'https://agents.example.net/run',
    headers: { Authorization: 'Bearer s3cret', 'X-Team': 'noc' },
    timeout: 60,
  };
  const template = { name: 'Template', inputSchema: {}, runner: 'template', template: '{{ site }}' };
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  it('are created, and show up by id and name, header values masked', async () => {
    const answer = await who.member('POST', path, webhook);
    const { status, data } = ok(answer);
    assert.equal(status, 'Created');
    const { _id, created, createdBy, lastUpdated, lastUpdatedBy, ...rest } = data;
    assert.deepEqual(rest, { ...webhook, headers: { Authorization: '********', 'X-Team': '********' } });
    assert.deepEqual([created, createdBy], [lastUpdated, lastUpdatedBy]);
    assert.equal(createdBy, 'member');
    for (const id of [_id, 'Webhook']) assert.deepEqual(ok(await who.reader('GET', `${path}/${id}`)), data);
    assert.deepEqual(ok(await service.ask('GET', `${path}?multiEquals[runner]=webhook`)), {
      results: [data],
      total: 1,
    });
    ok(await service.ask('POST', path, template));
    assert.deepEqual(
      ok(await service.ask('GET', path)).results.map(({ name }: { name: string }) => name),
      ['Template', 'Webhook'],
    );
  });

  it('have unique names', async () => refused(await service.ask('POST', path, template), 409, /Template/));

  for (const [what, body, at] of [
    ['no URL', { ...webhook, name: 'x', url: undefined }, /\/url/],
    ['a URL of another kind', { ...webhook, name: 'x', url: 'file:///etc/passwd' }, /\/url/],
    ['credentials in the URL', { ...webhook, name: 'x', url: 'http://user:pass@host/' }, /\/url/],
    ['a template for a webhook', { ...webhook, name: 'x', template: 'x' }, /\/template/],
    ['no template', { ...template, name: 'x', template: undefined }, /\/template/],
    ['headers for a template', { ...template, name: 'x', headers: {} }, /\/headers/],
    ['a header that is none', { ...webhook, name: 'x', headers: { 'a b': 'x' } }, /\/headers\/a b/],
    ['a value with a line break', { ...webhook, name: 'x', headers: { a: 'x\r\nHost: y' } }, /\/headers\/a/],
    ['a mask where nothing is kept', { ...webhook, name: 'x', headers: { a: '********' } }, /\/headers\/a/],
    ['no time', { ...template, name: 'x', timeout: 0 }, /\/timeout/],
    ['two days', { ...template, name: 'x', timeout: 172_800 }, /\/timeout/],
    ['a schema that is none', { ...template, name: 'x', inputSchema: { type: 'text' } }, /\/inputSchema/],
    ['no schema', { ...template, name: 'x', inputSchema: undefined }, /\/inputSchema/],
    ['another runner', { ...template, name: 'x', runner: 'lambda' }, /\/runner/],
    ['an unknown field', { ...template, name: 'x', tmplate: 'x' }, /\/tmplate/],
  ] as const) {
    it(`are refused with ${what}, and nothing is stored`, async () => {
      refused(await service.ask('POST', path, body), 400, at);
      refused(await service.ask('GET', `${path}/x`), 404);
    });
  }

  it('are replaced; the mask keeps a credential only as long as the URL stays', async () => {
    const masked = { ...webhook, headers: { Authorization: '********', 'X-Team': 'ops' } };
    const changed = await service.ask('PUT', `${path}/Webhook`, masked);
    assert.equal(ok(changed).status, 'OK');
    assert.deepEqual(
      ok(await service.ask('PUT', `${path}/Webhook`, masked)).data,
      ok(changed).data,
      'the same again is no change',
    );
    refused(
      await service.ask('PUT', `${path}/Webhook`, { ...masked, url: 'https://evil.example.net/' }),
      400,
      /\/headers\/Authorization/,
    );
    refused(await service.ask('PUT', `${path}/Webhook`, masked, { 'If-Match': '"0"' }), 412);
    refused(await service.ask('PUT', `${path}/None`, masked), 404);
  });

  it('keep their credentials out of the log', async () => {
    for (const { name, bytes } of keptFiles(service.folder)) assert.ok(!bytes.includes('s3cret'), name);
    assert.ok(!service.lines.join('').includes('s3cret'));
  });

  it('are for those with the roles', async () => {
    refused(await who.reader('POST', path, template), 403, /createAgent/);
    refused(await who.outsider('GET', path), 403, /getAgents/);
  });

  it('are not deleted or renamed while an automation names them, by id or name', async () => {
    const { _id } = ok(await service.ask('POST', path, { ...template, name: 'Named' })).data;
    for (const componentName of [_id, 'Named'])
      ok(
        await service.ask('POST', '/operations-manager/automations', {
          name: `by ${componentName}`,
          componentType: 'agent',
          componentName,
        }),
      );
    refused(await service.ask('DELETE', `${path}/Named`), 409, /by Named.*refer/);
    refused(await service.ask('PUT', `${path}/Named`, { ...template, name: 'Renamed' }), 409, /by Named/);
    for (const componentName of [_id, 'Named'])
      ok(await service.ask('DELETE', `/operations-manager/automations/by%20${componentName}`));
    ok(await service.ask('PUT', `${path}/Named`, { ...template, name: 'Renamed' }));
    assert.equal(ok(await service.ask('DELETE', `${path}/Renamed`)).data._id, _id);
    refused(await service.ask('GET', `${path}/${_id}`), 404);
    ok(await service.ask('POST', path, { ...template, name: 'Named' }));
  });
});
