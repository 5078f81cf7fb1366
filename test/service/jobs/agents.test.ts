import assert from 'node:assert/strict';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Agents over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
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
