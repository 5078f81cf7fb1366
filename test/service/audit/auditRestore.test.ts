import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { restorable } from '../../../src/commands/all.ts';
import { areas } from '../../../src/http/areas.ts';
import { routesOf } from '../../../src/http/audit/restore.ts';
import { getRows } from '../../../src/http/events/eventAccess.ts';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { type Doc, type RestoreCase, restoresAsItWas } from '../../support/restoring.ts';
import { usePeople, useService } from '../../support/useService.ts';

/** Kinds that cannot be restored. */
const never = [
  'account',
  'role',
  'login',
  'job',
  'agentSession',
  'actionExecution',
  'lastAction',
  'certificate',
  'token',
  'provider',
  'complianceBatch',
  'configurationChange',
  'complianceReport',
  'configurationBackup',
];
/** Kinds that the platform keeps by itself. */
const ofThePlatform: readonly string[] = ['parkedReaction'];

describe('restoring a resource as it was', function () {
  this.timeout(300_000);
  const service = useService();
  const who = usePeople(service);

  const restore = (body: Doc, headers: Record<string, string> = {}) =>
    service.ask('POST', '/audit/restore', body, headers);
  const cases: readonly RestoreCase[] = [
    {
      kind: 'automation',
      make: ['/operations-manager/automations', { name: 'a', description: 'one' }],
      change: ['PATCH', '/operations-manager/automations/:id', { name: 'b', description: 'two' }],
      remove: ['DELETE', '/operations-manager/automations/:id'],
      read: '/operations-manager/automations/:id',
      members: ['name', 'description', 'gbac', 'created', 'createdBy'],
    },
    {
      kind: 'template',
      make: ['/template_builder/templates', { name: 't', template: 'one', data: { token: 'secret one', a: 1 } }],
      change: ['PUT', '/template_builder/templates/:id', { template: 'two', data: { token: 'secret two', a: 2 } }],
      remove: ['DELETE', '/template_builder/templates/:id'],
      read: '/template_builder/templates/:id',
      members: ['name', 'template', 'data'],
    },
    {
      kind: 'commandTemplate',
      make: ['/mop/createTemplate', { mop: { name: 'm', commands: [{ command: 'show version', rules: [] }] } }],
      change: ['POST', '/mop/updateTemplate/m', { mop: { name: 'm', commands: [] } }],
      remove: ['POST', '/mop/deleteTemplate/m'],
      read: '/mop/listATemplate/m',
      members: ['name', 'commands'],
    },
    {
      kind: 'adapter',
      make: [
        '/configuration_manager/adapters',
        { name: 'box', type: 'http', properties: { baseUrl: 'http://127.0.0.1:1', token: 'token one' } },
      ],
      change: [
        'PUT',
        '/configuration_manager/adapters/box',
        { type: 'http', properties: { baseUrl: 'http://127.0.0.1:2', token: 'token two' } },
      ],
      remove: ['DELETE', '/configuration_manager/adapters/box'],
      read: '/configuration_manager/adapters/box',
      members: ['type', 'properties', 'devices'],
    },
    {
      kind: 'credential',
      make: ['/configuration_manager/credentials', { name: 'crew', username: 'one', password: 'one' }],
      change: ['PUT', '/configuration_manager/credentials/crew', { username: 'two', password: 'two' }],
      remove: ['DELETE', '/configuration_manager/credentials/crew'],
      read: '/configuration_manager/credentials/crew',
      members: ['username', 'password', 'groups'],
    },
    {
      kind: 'group',
      make: ['/authorization/groups', { name: 'crew', description: 'one' }],
      change: ['PATCH', '/authorization/groups/crew', { description: 'two', memberOf: ['readers'] }],
      remove: ['DELETE', '/authorization/groups/crew'],
      read: '/authorization/groups/crew',
      members: ['name', 'description', 'memberOf'],
    },
    {
      kind: 'groupMapping',
      id: 'ldap noc',
      make: ['/group-mappings', { provenance: 'ldap', externalGroup: 'noc', platformGroups: ['operators'] }],
      change: ['PATCH', '/group-mappings/ldap/noc', { updates: { platformGroups: ['readers'] } }],
      remove: ['DELETE', '/group-mappings/ldap/noc'],
      read: '/group-mappings/ldap/noc',
      members: ['platformGroups'],
    },
  ];

  for (const one of cases)
    it(`${one.kind}: after a change, and after it was deleted`, () => restoresAsItWas(service, one));

  it('a trigger gets its secrets back, too', async () => {
    const automation = ok(await service.ask('POST', '/operations-manager/automations', { name: 'for a trigger' })).data;
    const made = ok(
      await service.ask('POST', '/operations-manager/triggers', {
        name: 'by hand',
        type: 'manual',
        enabled: true,
        actionType: 'automations',
        actionId: automation._id,
        formId: null,
        formData: { password: 'one', n: 1 },
      }),
    ).data;
    const path = `/operations-manager/triggers/${made._id}`;
    const first = await positionOf(service);
    ok(await service.ask('PATCH', path, { description: 'new', formData: { password: 'two', n: 2 } }));
    ok(await restore({ kind: 'trigger', id: made._id, position: first }));
    const now = ok(await service.ask('GET', path)).data;
    assert.deepEqual([now.formData, now.description], [made.formData, made.description]);
    const { results } = ok(await service.ask('GET', `/audit/resources/trigger/${made._id}`));
    const changed = results[0].patch.map((one: Doc) => one.path);
    assert.ok(changed.includes('/formData/password'), JSON.stringify(changed));
    ok(await service.ask('DELETE', path));
    ok(await restore({ kind: 'trigger', id: made._id, position: first }));
    assert.deepEqual(ok(await service.ask('GET', path)).data.formData, made.formData);
  });

  it('obeys If-Match, names, rights and access lists', async () => {
    const path = '/operations-manager/automations';
    const { _id: id } = ok(
      await service.ask('POST', path, { name: 'mine', gbac: { read: ['ops'], write: ['ops'] } }),
    ).data;
    const position = await positionOf(service);
    const asked = { kind: 'automation', id, position };
    ok(await service.ask('PATCH', `${path}/${id}`, { name: 'renamed' }));
    refused(await restore(asked, { 'If-Match': '"0"' }), 412);
    refused(await who.stranger('POST', '/audit/restore', asked), 404);
    refused(await who.reader('POST', '/audit/restore', asked), 403);
    ok(
      await service.ask('POST', '/authorization/roles', {
        name: 'restorer',
        allowedMethods: [
          { provenance: 'audit', name: 'restoreResource' },
          { provenance: 'operations-manager', name: 'getAutomation' },
        ],
      }),
    );
    ok(
      await service.ask('PATCH', '/authorization/accounts/outsider', {
        assignedRoles: ['restorer'],
        memberOf: ['ops'],
      }),
    );
    refused(await who.outsider('POST', '/audit/restore', asked), 403, /updateAutomation/);
    ok(await service.ask('POST', path, { name: 'mine' }));
    refused(await restore(asked), 409);
    refused(await restore({ ...asked, dryRun: true }), 409);
    ok(await service.ask('DELETE', `${path}/mine`));
    const { headers } = await service.ask('GET', `${path}/${id}`);
    ok(await restore(asked, { 'If-Match': headers.get('etag')! }));
    const done = ok(await who.member('POST', '/audit/restore', asked));
    assert.deepEqual(done.patch, []);
    const [event] = ok(await service.ask('GET', `/audit/events?resource=automation/${id}&limit=1`)).results;
    assert.equal(event.operation, 'restoreResource');
  });

  it('refuses what cannot be restored', async () => {
    const head = await positionOf(service);
    for (const kind of [...never, 'triggerRuns', 'nothing', 'toString'])
      refused(await restore({ kind, id: 'x', position: 1 }), 422, /"path":"\/kind"/);
    refused(await restore({ kind: 'automation', id: 'x', position: head + 1000 }), 400, /"path":"\/position"/);
    refused(await restore({ kind: 'automation', id: 'none', position: 1 }), 404);
    refused(await restore({ kind: 'automation', id: 'x' }), 400, /"path":"\/position"/);
  });

  it('every kind that has a document can be restored, or is named as one that cannot', () => {
    const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
    const kinds = [...getRows(areas).keys(), ...restorable.keys(), ...never];
    for (const kind of kinds.filter((one) => !ofThePlatform.includes(one))) {
      assert.equal(restorable.has(kind), !never.includes(kind), kind);
      assert.ok(page.includes(`\`${kind}\``), `docs/audit.md does not name ${kind}`);
    }
  });

  it('every kind names methods that exist', () => {
    for (const { there, deleted } of restorable.values())
      for (const way of [there, deleted]) assert.ok(routesOf(way, areas).length > 0);
  });
});
