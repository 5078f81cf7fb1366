import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';
import { ours, worker, workflow } from '../../support/workflowSamples.ts';

const om = '/operations-manager';
const studio = '/automation-studio/projects';
const projectId = '66d0c38721161b4df27174ff';

describe('readiness', () => {
  const service = useService();
  const some = usePeople(service);
  const missingIn = async (path: string) => {
    const { ready, missing } = ok(await some.reader('GET', `${path}/readiness`));
    assert.equal(ready, missing.length === 0);
    return missing
      .map((one: { in: string; kind: string; name: string }) => `${one.in}: ${one.kind} ${one.name}`)
      .sort();
  };

  it('of a workflow names each thing that is missing once, until it is there', async () => {
    const steps = {
      a: worker({}, { name: 'ping', app: 'Probe', location: 'Application' }),
      b: worker({}, { name: 'ping', app: 'Probe', location: 'Application' }),
      c: ours('childJob', { workflow: 'Below' }),
      d: { ...ours('ShowJsonForm', { form_id: 'Site' }), app: 'JsonForms', type: 'manual', groups: ['nobody'] },
      e: { ...ours('renderJinjaTemplate', { name: 'Banner', context: {} }), app: 'TemplateBuilder' },
      f: { ...ours('renderJinjaTemplate', { name: '$var.job.which', context: {} }), app: 'TemplateBuilder' },
      h: worker(),
      g: ours('transformation', { tr_id: 'Shape' }),
    };
    const ways = ['start -> a', 'a -> b', 'b -> c', 'c -> d', 'd -> e', 'e -> f', 'f -> g', 'g -> h', 'h -> end'];
    ok(await service.ask('POST', `${om}/workflows`, workflow(steps, ways, { name: 'Above' })));
    const path = `${om}/workflows/Above`;
    assert.deepEqual(await missingIn(path), [
      'Above: adapter Lab',
      'Above: fault /tasks/g/variables/incoming/tr_id: There is no transformation "Shape"',
      'Above: form Site',
      'Above: group nobody',
      'Above: task Probe.ping',
      'Above: template Banner',
      'Above: workflow Below',
    ]);
    ok(await service.ask('POST', `${om}/workflows`, workflow({}, ['start -> end'], { name: 'Below' })));
    ok(await service.ask('POST', '/authorization/groups', { name: 'nobody', description: '' }));
    const banner = { name: 'Banner', group: 'a', command: '', template: 'x', data: '', type: 'jinja2' };
    ok(await service.ask('POST', '/template_builder/templates', banner));
    assert.deepEqual(await missingIn(path), [
      'Above: adapter Lab',
      'Above: fault /tasks/g/variables/incoming/tr_id: There is no transformation "Shape"',
      'Above: form Site',
      'Above: task Probe.ping',
    ]);
    assert.deepEqual(await missingIn(`${om}/workflows/Below`), []);
    refused(await some.reader('GET', `${om}/workflows/None/readiness`), 404);
  });

  it('of a project is that of its components, of those that are gone, and of those that stayed out', async () => {
    const main = workflow({ a: ours('childJob', { workflow: `@${projectId}: Child` }) }, ['start -> a', 'a -> end'], {
      name: 'Main',
    });
    const components = [
      { iid: 1, type: 'workflow', folder: '/', document: main },
      { iid: 2, type: 'workflow', folder: '/', document: workflow({}, ['start -> end'], { name: 'Child' }) },
      { iid: 3, type: 'template', folder: '/', document: { name: 'Bad', template: 1 } },
    ];
    const project = { _id: projectId, name: 'Ready', components };
    ok(await service.ask('POST', `${studio}/import`, { project }));
    assert.deepEqual(await missingIn(`${studio}/Ready`), ['Ready: template Bad']);
    const child = encodeURIComponent(`@${projectId}: Child`);
    const { _id } = ok(await service.ask('GET', `${om}/workflows/${child}`)).data;
    ok(await service.ask('DELETE', `${om}/workflows/${_id}`));
    const gone = await missingIn(`${studio}/Ready`);
    assert.deepEqual(gone, [
      `@${projectId}: Child: workflow @${projectId}: Child`,
      `@${projectId}: Main: workflow @${projectId}: Child`,
      'Ready: template Bad',
    ]);
    refused(await service.ask('GET', `${studio}/None/readiness`), 404);
  });

  it('of a project is hidden with it', async () => {
    const members = [{ type: 'account', username: 'admin', role: 'owner' }];
    ok(await service.ask('PATCH', `${studio}/Ready`, { members }));
    refused(await some.reader('GET', `${studio}/Ready/readiness`), 404);
    refused(await some.reader('GET', `${om}/workflows/${encodeURIComponent(`@${projectId}: Main`)}/readiness`), 404);
  });

  it('of a package is that of its documents, with the components of automations', async () => {
    const automation = {
      name: 'Nightly',
      description: '',
      componentType: 'workflows',
      componentName: 'Gone',
      gbac: { read: [], write: [] },
      triggers: [],
    };
    const prebuilt = {
      metadata: {
        name: 'Package',
        version: '1',
        description: '',
        author: '',
        license: '',
        repository: {},
        PlatformDependencies: {},
      },
      manifest: { bundleName: 'Package' },
      bundles: [
        {
          type: 'workflow',
          data: workflow(
            { a: worker({}, { name: 'ping', app: 'Probe', location: 'Application' }) },
            ['start -> a', 'a -> end'],
            { name: 'Pings' },
          ),
        },
        { type: 'automation', data: automation },
      ],
      readme: '',
    };
    const { data } = ok(await service.ask('POST', '/prebuilts/import', { prebuilt }));
    assert.deepEqual(data.refused, []);
    assert.deepEqual(await missingIn('/prebuilts/Package'), ['Nightly: workflow Gone', 'Pings: task Probe.ping']);
    refused(await service.ask('GET', '/prebuilts/None/readiness'), 404);
  });
});
