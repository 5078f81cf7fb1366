import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedEarlier, storedIn, textsKept, withLog } from '../../support/logged.ts';
import { ok, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

const mask = '********';
const manager = '/configuration_manager';

describe('Secrets among variables and sample data', () => {
  let service: TestService;
  const secrets: string[] = [];
  const secret = (text: string): string => {
    secrets.push(text);
    return text;
  };
  before(async () => {
    service = await startService({ LOG_LEVEL: 'trace' });
  });
  after(() => service.stop());
  const plain = (answer: { readonly text: string }): void => {
    for (const text of secrets) assert.ok(!answer.text.includes(text), answer.text);
  };
  const asked = async (method: string, path: string, body?: unknown) => {
    const answer = await service.ask(method, path, body);
    plain(answer);
    return answer;
  };
  const position = (answer: { readonly headers: Headers }) => answer.headers.get('x-event-position');

  it('of golden configuration trees are sealed, masked and kept by the mask', async () => {
    const { _id } = ok(await asked('POST', `${manager}/configs`, { name: 'core' }));
    const put = (variables: object) => asked('PUT', `${manager}/configs/variables/${_id}/initial`, { variables });
    const clear = {
      mtu: 1500,
      password: secret('tree-hunter2'),
      snmp: { community: secret('tree-community'), users: [{ auth: { key: secret('tree-auth') } }] },
    };
    const shown = { mtu: 1500, password: mask, snmp: { community: mask, users: [{ auth: mask }] } };
    const first = await put(clear);
    assert.deepEqual(ok(first).data.versions[0].variables, shown);
    for (const again of [shown, clear]) assert.equal(position(await put(again)), position(first), 'no change');
    assert.deepEqual(ok(await put({ ...shown, mtu: 9000 })).data.versions[0].variables, { ...shown, mtu: 9000 });
    refused(await put({ token: mask }), 400, /"\/variables\/token"/);
    ok(await asked('POST', `${manager}/configs/${_id}/versions`, { name: 'next' }));
    const { versions } = ok(await asked('GET', `${manager}/configs/core`));
    assert.deepEqual(
      versions.map(({ variables }: { variables: object }) => variables),
      Array(2).fill({ ...shown, mtu: 9000 }),
    );
    plain(await asked('GET', `${manager}/configs`));
    plain(await asked('POST', `${manager}/configs/${_id}/next/nodes`, { name: 'n' }));
    ok(
      await asked('DELETE', `${manager}/configs/variables/${_id}/next`, {
        variables: { password: secret('tree-ignored') },
      }),
    );
  });

  it('of compliance plans are sealed, masked and kept by the mask in the node that they are of', async () => {
    const {
      _id: treeId,
      versions: [
        {
          root: { configId: nodeId },
        },
      ],
    } = ok(await asked('POST', `${manager}/configs`, { name: 'planned' }));
    const {
      data: { versions },
    } = ok(await asked('POST', `${manager}/configs/${treeId}/versions`, { name: 'next' }));
    const nextId = versions[1].root.configId;
    const node = (version: string, variables: object) => ({
      treeId,
      version,
      nodeId: version === 'initial' ? nodeId : nextId,
      variables,
    });
    const plan = ok(
      await asked('POST', `${manager}/compliance_plans`, {
        name: 'audit',
        nodes: [node('initial', { token: secret('plan-token'), site: 'a' })],
      }),
    );
    assert.deepEqual(plan.nodes[0].variables, { token: mask, site: 'a' });
    const put = (...nodes: object[]) =>
      asked('PUT', `${manager}/compliance_plans`, { planId: plan._id, options: { nodes } });
    ok(await put(node('initial', { token: mask, site: 'b' })));
    refused(
      await put(node('initial', { token: mask, site: 'b' }), node(versions[1].name, { token: mask })),
      400,
      /"\/options\/nodes\/1\/variables\/token"/,
    );
    ok(await put(node(versions[1].name, { password: secret('plan-password') })));
    const shown = [{ token: mask, site: 'b' }, { password: mask }];
    for (const { nodes } of [
      ok(await asked('GET', `${manager}/compliance_plans/${plan._id}`)),
      ok(await asked('POST', `${manager}/search/compliance_plans`, {})).plans[0],
    ])
      assert.deepEqual(
        nodes.map(({ variables }: { variables: object }) => variables),
        shown,
      );
  });

  it('of templates are sealed, masked and kept by the mask', async () => {
    const path = '/template_builder/templates';
    const data = {
      user: 'a',
      credentials: { password: secret('sample-password') },
      list: [{ secret: secret('sample-secret') }],
    };
    const shown = { user: 'a', credentials: mask, list: [{ secret: mask }] };
    assert.deepEqual(ok(await asked('POST', path, { name: 't', template: 'x', data })).data.data, shown);
    refused(
      await asked('POST', path, { name: 'u', template: 'x', data: { password: mask } }),
      400,
      /"\/data\/password"/,
    );
    assert.deepEqual(ok(await asked('PUT', `${path}/t`, { data: { ...shown, user: 'b' } })).data.data, {
      ...shown,
      user: 'b',
    });
    assert.deepEqual(ok(await asked('GET', `${path}/t`)).data, { ...shown, user: 'b' });
    assert.deepEqual(ok(await asked('GET', path)).results[0].data, { ...shown, user: 'b' });
    assert.deepEqual(ok(await asked('POST', `${path}/t/renderJinja`, {})), 'x');
    for (const text of ['sample text', null, ['a', 1]])
      assert.deepEqual(ok(await asked('PUT', `${path}/t`, { data: text })).data.data, text);
    assert.deepEqual(ok(await asked('DELETE', `${path}/t`)).data.data, ['a', 1]);
  });

  it('are in no file, and in no line of the log', () => {
    assert.equal(secrets.length, 8);
    assert.deepEqual(textsKept(service, secrets), []);
    assert.deepEqual(textsKept(service, ['sample text']), ['sample text']);
  });
});

describe('Secrets that earlier versions have stored in clear', () => {
  let folder: string;
  let service: TestService;
  const id = 'b'.repeat(24);
  const root = { name: 'base', configId: 'c'.repeat(24) };
  const early = { mtu: 1500, password: 'early-secret' };
  const shown = { mtu: 1500, password: mask };
  const versions = [{ name: 'initial', root: { ...root, children: [] }, variables: early }];
  const template = {
    name: 'old',
    type: 'jinja2',
    template: 'x',
    description: '',
    command: '',
    data: early,
    group: '',
    tags: [],
  };
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    await storedEarlier(folder, [
      {
        stream: `tree-${id}`,
        source: 'configuration-manager',
        topic: 'treeRestored',
        data: { name: 'old', deviceType: null, versions },
      },
      {
        stream: `plan-${id}`,
        source: 'configuration-manager',
        topic: 'planCreated',
        data: {
          name: 'old',
          description: '',
          status: 'draft',
          gbac: { read: [], write: [] },
          nodes: [{ treeId: id, version: 'initial', nodeId: root.configId, variables: early }],
        },
      },
      { stream: `template-${id}`, source: 'template-builder', topic: 'templateCreated', data: template },
    ]);
    service = await startService({}, folder);
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const tree = async () => ok(await service.ask('GET', `${manager}/configs/old`)).versions[0].variables;
  const plan = async () => ok(await service.ask('GET', `${manager}/compliance_plans/old`)).nodes[0].variables;
  const sample = async () => ok(await service.ask('GET', '/template_builder/templates/old')).data;

  it('are masked in answers', async () => {
    for (const read of [tree, plan, sample]) assert.deepEqual(await read(), shown);
    for (const list of [`${manager}/configs`, '/template_builder/templates'])
      assert.doesNotMatch((await service.ask('GET', list)).text, /early-secret/);
  });

  it('are kept by the mask, and sealed then', async () => {
    const node = { treeId: id, version: 'initial', nodeId: root.configId };
    const changed = { ...shown, mtu: 9000 };
    ok(await service.ask('PUT', `${manager}/configs/variables/${id}/initial`, { variables: changed }));
    ok(
      await service.ask('PUT', `${manager}/compliance_plans`, {
        planId: id,
        options: { nodes: [{ ...node, variables: changed }] },
      }),
    );
    ok(await service.ask('PUT', '/template_builder/templates/old', { data: changed }));
    for (const read of [tree, plan, sample]) assert.deepEqual(await read(), changed);
    const all = await withLog(join(folder, 'events.db'), storedIn);
    for (const stream of [`tree-${id}`, `plan-${id}`, `template-${id}`]) {
      const events = all.filter((event) => event.stream === stream).map(({ data }) => data);
      assert.equal(events.length, 2, stream);
      assert.match(events[1]!, /"\$sealed"/, stream);
      assert.doesNotMatch(events[1]!, /early-secret|\*{8}/, stream);
    }
  });
});
