import assert from 'node:assert/strict';
import { join } from 'node:path';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import type { Bundle, PrebuiltDocument } from '../../../src/domain/prebuilts/prebuiltSchemas.ts';
import { packed } from '../../support/documents.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const aForm = (name: string, more: object = {}): Bundle => ({ type: 'forms', data: { name, ...more } });

describe('Prebuilts over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const path = '/prebuilts';
  const install = (prebuilt: unknown, options?: object, headers: Record<string, string> = {}) =>
    service.ask('POST', `${path}/import`, { prebuilt, ...(options && { options }) }, headers);
  const lists = [
    path,
    '/json-forms/forms',
    '/template_builder/templates',
    '/mop/listTemplates',
    '/mop/listAnalyticTemplates',
    '/configuration_manager/configs',
    '/operations-manager/automations',
    '/operations-manager/triggers',
  ];
  /** All documents that a package may have to do with. */
  const documents = async (): Promise<readonly string[]> =>
    Promise.all(
      lists.map(async (list) => (await service.ask('GET', list.startsWith('/mop') ? list : `${list}?limit=1000`)).text),
    );
  const at = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const exported = async (name: string) => ok(await service.ask('GET', `${at(name)}/export`));
  const form = async (name: string) => ok(await service.ask('GET', `/json-forms/forms/${encodeURIComponent(name)}`));
  /** That the package is refused with the status and words if it is strict, and nothing has been stored. */
  const refuses = async (prebuilt: unknown, status: number, about: RegExp, options?: object): Promise<void> => {
    const before = await documents();
    refused(await install(prebuilt, { strict: true, ...options }), status, about);
    refused(await install(prebuilt, { strict: true, dryRun: true, ...options }), status, about);
    assert.deepEqual(await documents(), before);
  };

  it('install documents of every kind, which may name each other', async () => {
    const answer = await install(vlanRollout);
    const { status, message, data } = ok(answer);
    assert.deepEqual(
      [status, message, data.name],
      ['Created', 'Successfully imported prebuilt', '@vendor/vlan-rollout'],
    );
    assert.deepEqual(
      data.installed.map(({ type, name }: { type: string; name: string }) => `${type}: ${name}`),
      [
        'automation: VLAN rollout',
        'json-forms: VLAN rollout request',
        'forms: VLAN rollout approval',
        'template: VLAN on an access switch',
        'mop-template: VLAN is there',
        'mop-analytic-template: VLANs before and after',
        'golden-config: Campus access switches',
        'workflow: VLAN rollout',
        'transformation: Ticket to request',
      ],
    );
    // What others name comes first, whatever their order in the package.
    const stored = await withLog(join(service.folder, 'events.db'), eventsIn);
    const order = stored.flatMap(
      ({ topic }) => /^(transformation|workflow|automation)Restored$/.exec(topic)?.[1] ?? [],
    );
    assert.deepEqual(order, ['transformation', 'workflow', 'automation']);
    const reason = 'The platform has no resources of this kind yet; the document is in the package';
    assert.deepEqual(data.kept, [
      { type: 'integration-model', reason },
      { type: 'integration', name: 'tickets', reason },
    ]);
    assert.deepEqual(data.refused, []);
    const request = await form('VLAN rollout request');
    assert.deepEqual(
      [request._id, request.created, request.createdBy],
      ['64f0c1a2b3d4e5f6a7b8c902', '2026-02-03T08:00:00.000Z', 'vendor'],
    );
    assert.equal((await form('VLAN rollout approval'))._id, data.installed[2]._id);
    const automation = ok(await service.ask('GET', '/operations-manager/automations/VLAN%20rollout/export')).data;
    assert.deepEqual(
      [automation._id, automation.componentName, automation.triggers.length],
      ['64f0c1a2b3d4e5f6a7b8c901', 'VLAN is there', 2],
    );
    const byHand = automation.triggers.find(({ type }: { type: string }) => type === 'manual');
    assert.match(byHand.formSchemaHash, /^[0-9a-f]{64}$/);
    assert.equal(
      ok(await service.ask('GET', '/template_builder/templates/VLAN%20on%20an%20access%20switch')).group,
      'Campus',
    );
    assert.equal(
      ok(await service.ask('POST', '/mop/export', { options: { name: 'VLAN is there' } })).os,
      'cisco-ios-xe',
    );
    assert.equal(
      ok(await service.ask('POST', '/mop/export', { options: { name: 'VLANs before and after' }, type: 'analytics' }))
        .prepostCommands.length,
      1,
    );
    const tree = vlanRollout.bundles.find(({ type }) => type === 'golden-config')!.data;
    const { created, lastUpdated, ...content } = ok(
      await service.ask('GET', '/configuration_manager/configs/Campus%20access%20switches'),
    );
    assert.deepEqual(content, tree);
    assert.equal(created, lastUpdated);
  });

  it('come out as they went in, with what is derived', async () => {
    const { _id, bundles, manifest, createdBy } = ok(await service.ask('GET', at(vlanRollout.metadata.name)));
    assert.deepEqual([bundles.automation, bundles['json-forms'], bundles.workflow, createdBy], [1, 1, 1, 'admin']);
    const out = await exported(_id);
    assert.deepEqual({ ...out, manifest: { bundleName: out.manifest.bundleName } }, vlanRollout);
    assert.deepEqual(out.manifest, manifest);
    assert.match(out.manifest.fingerprint, /^[0-9a-f]{24}$/);
    assert.match(out.manifest.createdEpoch, /^\d{13}$/);
    assert.deepEqual(out.manifest.artifacts[0], {
      id: '64f0c1a2b3d4e5f6a7b8c901',
      name: 'VLAN rollout',
      location: '/bundles/0',
      type: 'automation',
    });
    const listed = ok(await service.ask('GET', `${path}?multiEquals[keywords]=campus`));
    assert.deepEqual([listed.total, listed.results[0]._id], [1, _id]);
  });

  it('are no change when they come again, as they came or as they were exported', async () => {
    const before = await documents();
    const out = await exported(vlanRollout.metadata.name);
    for (const again of [vlanRollout, out]) {
      for (const options of [undefined, { overwrite: true }]) {
        const { status, message } = ok(await install(again, options));
        assert.deepEqual([status, message], ['OK', 'The prebuilt is installed already']);
      }
    }
    assert.deepEqual(await documents(), before);
  });

  it('are replaced by other content only with overwrite', async () => {
    const content = (title: string, extra: readonly Bundle[] = []) =>
      packed('replaced', [aForm('Replaced', { schema: { type: 'object', title } }), ...extra]);
    ok(await install(content('one')));
    await refuses(content('two'), 409, /"\/prebuilt\/bundles\/0\/data\/_id".*"\/prebuilt\/metadata\/name"/);
    assert.equal((await form('Replaced')).schema.title, 'one');
    const { status, data } = ok(await install(content('two', [aForm('Added')]), { overwrite: true }));
    assert.deepEqual([status, data.installed.length], ['OK', 2]);
    assert.equal((await form('Replaced')).schema.title, 'two');
    ok(await service.ask('PUT', '/json-forms/forms', { options: { name: 'Added', description: 'edited' } }));
    ok(await install(content('two', [aForm('Added')])));
    assert.equal((await form('Added')).description, 'edited');
    ok(await install(content('two', [aForm('Added')]), { overwrite: true }));
    assert.equal((await form('Added')).description, null);
  });

  it('name all that is taken by others', async () => {
    ok(await service.ask('POST', '/json-forms/forms', { name: 'Taken', description: 'by hand' }));
    ok(await service.ask('POST', '/template_builder/templates', { name: 'Taken', template: 'x' }));
    ok(await service.ask('POST', '/mop/createTemplate', { mop: { name: 'Taken', description: 'by hand' } }));
    ok(await service.ask('POST', '/configuration_manager/configs', { name: 'Taken' }));
    ok(await service.ask('POST', '/operations-manager/automations', { name: 'Taken' }));
    const automation = {
      _id: 'f'.repeat(24),
      name: 'Taken',
      description: 'other',
      componentType: null,
      componentName: null,
      gbac: {},
    };
    const tree = {
      name: 'Taken',
      versions: [{ name: 'initial', root: { name: 'base', configId: 'e'.repeat(24), children: [] } }],
    };
    await refuses(
      packed('taker', [
        aForm('Free'),
        aForm('Taken'),
        { type: 'template', data: { name: 'Taken', template: 'y' } },
        { type: 'mop-template', data: { name: 'Taken' } },
        { type: 'golden-config', data: tree },
        { type: 'automation', data: automation },
      ]),
      409,
      /bundles\/1\/.*bundles\/2\/.*bundles\/3\/.*bundles\/4\/.*bundles\/5\//,
    );
    refused(await service.ask('GET', '/json-forms/forms/Free'), 404);
    await refuses(
      packed('taker', [
        aForm('Taken', { _id: 'd'.repeat(24) }),
        {
          type: 'automation',
          data: {
            ...automation,
            name: 'Other',
            triggers: [
              {
                _id: 'c'.repeat(24),
                name: 'T',
                enabled: true,
                actionType: 'automations',
                actionId: automation._id,
                type: 'endpoint',
                verb: 'POST',
                routeName: 'vlan-rollout',
                schema: null,
                jst: null,
              },
            ],
          },
        },
      ]),
      409,
      /bundles\/0\/data.*bundles\/1\/data\/triggers\/0\/routeName/,
    );
  });

  it('name the node of a schedule that has no meaning', async () => {
    const _id = '9'.repeat(24);
    const schedule = {
      _id: '8'.repeat(24),
      name: 'Never',
      enabled: true,
      actionType: 'automations',
      actionId: _id,
      type: 'schedule',
      formData: null,
      formId: null,
      firstRunAt: 0,
      processMissedRuns: 'none',
      repeat: { components: [{ action: 'execute' }, { type: 'repeating', action: 'execute' }] },
    };
    const about = { _id, name: 'Never', description: '', componentType: null, componentName: null, gbac: {} };
    const data = { ...about, triggers: [schedule] };
    await refuses(
      packed('never', [{ type: 'automation', data }]),
      400,
      /takes time.*"\/prebuilt\/bundles\/0\/data\/triggers\/0\/repeat\/components\/1"/,
    );
  });

  it('name groups and forms that are not there, all of them', async () => {
    const automation = (digit: string, group: string, triggers: object[] = []) => ({
      type: 'automation' as const,
      data: {
        _id: digit.repeat(24),
        name: digit,
        description: '',
        componentType: null,
        componentName: null,
        gbac: { write: [group] },
        triggers,
      },
    });
    await refuses(
      packed('groups', [
        aForm('Unused'),
        automation('1', 'ops'),
        automation('2', 'no such'),
        automation('3', 'nor this'),
      ]),
      404,
      /no such.*bundles\/2\/data\/gbac.*nor this.*bundles\/3\/data\/gbac/,
    );
    const trigger = {
      _id: 'b'.repeat(24),
      name: 'T',
      enabled: true,
      actionType: 'automations',
      actionId: '4'.repeat(24),
      type: 'manual',
      formData: null,
      formId: 'No such form',
    };
    await refuses(
      packed('forms', [automation('4', 'ops', [trigger])]),
      404,
      /No such form.*bundles\/0\/data\/triggers\/0\/formId/,
    );
    await refuses(
      packed('forms', [
        automation('4', 'ops', [{ ...trigger, formId: 'Strict', formData: { n: 'x' } }]),
        aForm('Strict', { schema: { type: 'object', title: 's', properties: { n: { type: 'integer' } } } }),
      ]),
      400,
      /bundles\/0\/data\/triggers\/0\/formData\/n/,
    );
  });

  it('refuse documents that have an id or a name in common', async () => {
    await refuses(
      packed('twice', [aForm('Twice'), { type: 'json-forms', data: { name: 'Twice' } }]),
      400,
      /bundles\/1\/data/,
    );
    await refuses(
      packed('twice', [aForm('One', { _id: 'a'.repeat(24) }), aForm('Two', { _id: 'a'.repeat(24) })]),
      400,
      /bundles\/1\/data/,
    );
    const automation = (digit: string) => ({
      type: 'automation' as const,
      data: {
        _id: digit.repeat(24),
        name: digit,
        description: '',
        componentType: null,
        componentName: null,
        gbac: {},
        triggers: [
          {
            _id: digit.repeat(24),
            name: 'T',
            enabled: true,
            actionType: 'automations',
            actionId: digit.repeat(24),
            type: 'endpoint',
            verb: 'POST',
            routeName: 'one-route',
            schema: null,
            jst: null,
          },
        ],
      },
    });
    await refuses(packed('twice', [automation('5'), automation('6')]), 400, /bundles\/1\/data/);
  });

  it('refuse bad packages, and name the path', async () => {
    const good = packed('bad', [aForm('Never')]);
    const bad: readonly (readonly [unknown, string])[] = [
      [{ type: 7, data: {} }, '/type'],
      [{ type: 'forms' }, '/data'],
      [{ data: {} }, '/type'],
      [{ type: 'integrationModel', data: [] }, '/data'],
      [aForm(''), '/data/name'],
      [aForm('f', { struct: { type: 'object', items: {} } }), '/data/struct/items'],
      [aForm('f', { schema: { type: 'object', title: 7 } }), '/data/schema/title'],
      [{ type: 'template', data: { name: 't' } }, '/data/template'],
      [
        { type: 'mop-template', data: { name: 'm', commands: [{ rules: [{ rule: 7, eval: 'RegEx' }] }] } },
        '/data/commands/0/rules/0/rule',
      ],
      [{ type: 'mop-analytic-template', data: {} }, '/data/name'],
      [{ type: 'automation', data: { name: 'a' } }, '/data/description'],
      [{ type: 'golden-config', data: { name: 't', versions: [] } }, '/data/versions'],
      [
        {
          type: 'golden-config',
          data: {
            name: 't',
            versions: [{ name: 'v', root: { name: 'r', configId: 'a'.repeat(24), children: [{ name: 'c' }] } }],
          },
        },
        '/data/versions/0/root/children/0',
      ],
    ];
    for (const [bundle, at] of bad)
      await refuses({ ...good, bundles: [good.bundles[0], bundle] }, 400, new RegExp(`"/prebuilt/bundles/1${at}`));
    refused(await service.ask('GET', '/json-forms/forms/Never'), 404);
  });

  it('go in without what cannot be installed; nothing of that exists', async () => {
    const mixed = packed('mixed', [
      aForm('Mixed'),
      aForm('', {}),
      { type: 'template', data: { name: 'Taken', template: 'y' } },
      { type: 'integrationModel', data: { _id: 'j', name: 'Nightly', data: {} } },
    ]);
    const outcome = ({ installed, kept, refused }: any) => [
      // a body is whatever the route says
      installed.map(({ name }: { name: string }) => name),
      kept.map(({ type, id }: { type: string; id: string }) => `${type} ${id}`),
      refused.map(({ type, code, path }: Record<string, string>) => `${type} ${code} ${path}`),
    ];
    const expected = [
      ['Mixed'],
      ['integrationModel j'],
      ['forms invalid /prebuilt/bundles/1/data/name', 'template conflict /prebuilt/bundles/2/data/name'],
    ];
    const before = await documents();
    const dry = ok(await install(mixed, { dryRun: true }));
    assert.deepEqual(outcome(dry.data), expected);
    assert.deepEqual(await documents(), before);
    const { status, data } = ok(await install(mixed));
    assert.deepEqual([status, outcome(data)], ['Created', expected]);
    assert.ok(data.refused.every(({ reason }: { reason: string }) => reason.length > 10));
    const out = await exported('mixed');
    assert.deepEqual(
      out.bundles.map(({ type }: Bundle) => type),
      ['forms', 'integrationModel'],
    );
    assert.equal(ok(await service.ask('GET', '/template_builder/templates/Taken')).template, 'x');
    assert.equal(ok(await install(mixed)).message, 'The prebuilt is installed already');
    assert.equal(ok(await install(out)).message, 'The prebuilt is installed already');
    refused(
      await install(packed('nothing', [{ type: 'template', data: { name: 'Taken', template: 'y' } }])),
      409,
      /Nothing of the package.*bundles\/0\/data/,
    );
    refused(await service.ask('GET', at('nothing')), 404);
  });

  it('say what came of their documents, and refuse kinds that are nearly right with the right word', async () => {
    const workflow = { type: 'integrationModel', data: { name: 'W' } };
    const kept = ok(await install(packed('only kept', [workflow])));
    assert.equal(kept.message, 'Imported prebuilt: 0 installed, 1 kept, 0 refused');
    const nearly = ['templates', 'form', 'Golden_Configs'].map((type) => ({ type, data: { name: 'x' } }));
    const { message, data } = ok(await install(packed('nearly', [workflow, ...nearly, aForm('Right')])));
    assert.equal(message, 'Imported prebuilt: 1 installed, 1 kept, 3 refused');
    assert.deepEqual(
      data.refused.map(({ path, reason }: { path: string; reason: string }) => [path, reason]),
      [
        ['/prebuilt/bundles/1/type', 'There is no kind "templates"; template is meant'],
        ['/prebuilt/bundles/2/type', 'There is no kind "form"; forms is meant'],
        ['/prebuilt/bundles/3/type', 'There is no kind "Golden_Configs"; golden-config is meant'],
      ],
    );
    await refuses(packed('nearly all', nearly), 400, /templates.*template is meant/);
    refused(await install(packed('nearly all', nearly)), 409, /template is meant/);
  });

  it('install scheduled jobs, with the secrets of their form data, but none with access lists', async () => {
    const job = (data: object) => ({
      _id: '61a0b2c3d4e5f6a7b8c9d0e1',
      name: 'Nightly',
      data: {
        workflowId: 'Backup',
        formData: { site: 'a', password: 'hunter2' },
        gbac: { read: [], write: [] },
        ...data,
      },
      nextRunAt: null,
      priority: 0,
      tags: [],
    });
    const bundle = (data: object) => ({ type: 'ac-agenda-job', data: job(data) });
    const { data } = ok(await install(packed('jobs', [bundle({})])));
    assert.deepEqual(data.installed[0].name, 'Nightly');
    const scheduled = `/automation_catalog/scheduled-jobs/${job({})._id}`;
    const masked = bundle({ formData: { site: 'a', password: '********' } });
    assert.deepEqual(ok(await service.ask('GET', scheduled)).data.formData, masked.data.data.formData);
    assert.deepEqual((await exported('jobs')).bundles, [masked]);
    assert.equal(ok(await install(await exported('jobs'))).message, 'The prebuilt is installed already');
    ok(await install(packed('jobs', [{ ...masked, data: { ...masked.data, priority: 1 } }]), { overwrite: true }));
    assert.equal(ok(await service.ask('GET', scheduled)).priority, 1);
    await refuses(
      packed('lists', [bundle({ gbac: { read: [], write: ['ops'] } })]),
      400,
      /bundles\/0\/data\/data\/gbac/,
    );
    const own = { ...job({ gbac: { write: ['ops'] } }), _id: 'hidden' };
    ok(await service.ask('POST', '/automation_catalog/import/scheduled-jobs', { scheduledJobs: [own] }));
    const theirs = packed('theirs', [{ type: 'ac-agenda-job', data: { ...job({}), _id: 'hidden' } }]);
    const answer = await who.stranger('POST', `${path}/import`, { prebuilt: theirs, options: { overwrite: true } });
    refused(answer, 409, /exists already/);
  });

  it('come in the words of other products, and go out in ours or theirs', async () => {
    const { PlatformDependencies: _, ...metadata } = packed('brands', []).metadata;
    const theirs = {
      readme: '',
      bundles: [
        { type: 'integrationModel', data: { name: 'w', tasks: { a: { token: '' } }, 10: 1, 2: 2 }, extra: true },
      ],
      manifest: {
        bundleName: 'brands',
        fingerprint: 'f',
        createdEpoch: '1',
        artifacts: [{ id: 'w', name: 'w', type: 'workflow', location: '/', properties: { entryPoint: true } }],
      },
      metadata: {
        ...metadata,
        repository: { type: 'gitlab', hostname: 'h', path: 'p', url: 'u' },
        IAPDependencies: { a: '1' },
        gitlabId: 7,
        more: 1,
      },
    };
    ok(await service.ask('POST', `${path}/import`, theirs));
    const ours = await exported('brands');
    assert.deepEqual(
      [ours.metadata.PlatformDependencies, ours.metadata.hostedGitId, ours.metadata.repository, ours.metadata.more],
      [{ a: '1' }, 7, { type: 'hosted_git', hostname: 'h', path: 'p', url: 'u' }, 1],
    );
    assert.deepEqual(ours.bundles, theirs.bundles);
    const back = await service.ask('GET', `${at('brands')}/export?as=imported`);
    assert.equal(back.text, JSON.stringify(theirs));
    assert.equal(ok(await service.ask('GET', at('brands'))).metadata.more, undefined);
    for (const again of [theirs, ours])
      assert.equal(ok(await service.ask('POST', `${path}/import`, again)).message, 'The prebuilt is installed already');
  });

  it('go without what they have installed, and may come again', async () => {
    ok(await install(packed('going', [aForm('Stays')])));
    assert.equal(ok(await service.ask('DELETE', at('going'))).data.name, 'going');
    refused(await service.ask('GET', at('going')), 404);
    refused(await service.ask('GET', `${at('going')}/export`), 404);
    refused(await service.ask('DELETE', at('going')), 404);
    assert.equal((await form('Stays')).name, 'Stays');
    assert.equal(ok(await install(packed('going', [aForm('Stays')]))).status, 'Created');
  });

  it('replace automations with their triggers, and never nodes that plans name', async () => {
    const [, ...rest] = vlanRollout.bundles;
    const automation = vlanRollout.bundles[0]!;
    const [byHand] = (automation.data as { triggers: object[] }).triggers;
    const changed = {
      ...vlanRollout,
      bundles: [{ ...automation, data: { ...automation.data, triggers: [byHand] } }, ...rest],
    } as PrebuiltDocument;
    ok(await install(changed, { overwrite: true }));
    assert.equal(
      ok(await service.ask('GET', '/operations-manager/automations/VLAN%20rollout/export')).data.triggers.length,
      1,
    );
    const nodes = [{ treeId: '64f0c1a2b3d4e5f6a7b8c904', version: '2026-Q1', nodeId: '64f0c1a2b3d4e5f6a7b8c942' }];
    ok(await service.ask('POST', '/configuration_manager/compliance_plans', { name: 'Campus audit', nodes }));
    const i = changed.bundles.findIndex(({ type }) => type === 'golden-config');
    const tree = changed.bundles[i]!;
    const lacking = {
      ...tree,
      data: { ...tree.data, versions: (tree.data as { versions: object[] }).versions.slice(0, 1) },
    };
    await refuses({ ...changed, bundles: changed.bundles.with(i, lacking) }, 409, /Campus audit/, { overwrite: true });
    ok(await install(vlanRollout, { overwrite: true }));
    assert.equal(
      ok(await service.ask('GET', '/operations-manager/automations/VLAN%20rollout/export')).data.triggers.length,
      2,
    );
  });

  it('refuse who may not', async () => {
    const closed = {
      _id: '9'.repeat(24),
      name: 'Closed',
      description: '',
      componentType: null,
      componentName: null,
      gbac: { read: ['operators'], write: ['ops'] },
    };
    ok(await service.ask('PUT', '/operations-manager/automations', { automations: [closed] }));
    const attempt = {
      prebuilt: packed('closed', [{ type: 'automation', data: { ...closed, description: 'mine' } }]),
      options: { overwrite: true, strict: true },
    };
    refused(await who.stranger('POST', `${path}/import`, attempt), 403, /bundles\/0\/data\/_id/);
    ok(await who.member('POST', `${path}/import`, attempt));
  });
});
