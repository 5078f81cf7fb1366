import assert from 'node:assert/strict';
import { ok, type People, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Compliance plans over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  let node: { treeId: string; version: string; nodeId: string };
  const path = '/configuration_manager/compliance_plans';
  const make = async (body: object) => ok(await service.ask('POST', path, body));
  const update = (planId: string, options: object, headers = {}) =>
    service.ask('PUT', path, { planId, options }, headers);
  const shown = async (id: string) => ok(await service.ask('GET', `${path}/${id}`));
  before(async () => {
    const tree = ok(await service.ask('POST', '/configuration_manager/configs', { name: 'Routers' }));
    node = { treeId: tree._id, version: 'initial', nodeId: tree.versions[0].root.configId };
  });

  it('are created as drafts, and show up by id and name', async () => {
    const answer = await service.ask('POST', path, { name: 'Made', description: 'All', nodes: [node] });
    const { id, _id, created, createdBy, ...rest } = ok(answer);
    assert.equal(id, _id);
    assert.deepEqual(rest, {
      name: 'Made',
      description: 'All',
      status: 'draft',
      nodes: [node],
      gbac: { read: [], write: [] },
      throttle: 5,
      grading: null,
      lastUpdated: created,
      lastUpdatedBy: createdBy,
    });
    const get = await service.ask('GET', `${path}/Made`);
    assert.deepEqual([ok(get), get.headers.get('etag')], [ok(answer), answer.headers.get('etag')]);
    refused(await service.ask('POST', path, { name: 'Made' }), 409, /Made/);
  });

  it('are updated part by part', async () => {
    const { _id } = await make({ name: 'Updated' });
    const more = { ...node, variables: { any: { thing: [1] } }, devices: ['r1'], deviceGroups: [], tasks: ['t'] };
    assert.deepEqual(ok(await update(_id, { nodes: [node] })), {
      status: 'success',
      message: 'Successfully updated compliance plan',
    });
    ok(await update(_id, { nodes: [more], status: 'active', gbac: { write: ['ops'] } }));
    const plan = await shown(_id);
    assert.deepEqual(
      [plan.name, plan.status, plan.nodes, plan.gbac],
      ['Updated', 'active', [more], { read: [], write: ['ops'] }],
    );
    ok(await update(_id, { status: 'draft', name: 'Updated again', description: 'x' }));
    assert.equal((await shown('Updated again')).status, 'draft');
    await make({ name: 'Updated' });
    refused(await update(_id, { name: 'Updated' }), 409, /Updated/);
  });

  it('do not change where nothing would, nor when someone else was faster', async () => {
    const { _id } = await make({ name: 'Still', nodes: [node] });
    const before = await shown(_id);
    ok(await update(_id, {}));
    ok(await update(_id, { name: 'Still', nodes: [node], status: 'draft' }));
    assert.deepEqual(await shown(_id), before);
    ok(await update(_id, { description: 'x' }, { 'If-Match': '"0"' }));
  });

  it('refuse what does not fit, and store none of it', async () => {
    const { _id } = await make({ name: 'Refusing' });
    refused(await update(_id, { status: 'active' }), 409, /"\/options\/status"/);
    refused(
      await update(_id, {
        description: 'x',
        nodes: [
          { ...node, treeId: 'x' },
          { ...node, version: 'v9' },
          { ...node, nodeId: 'y' },
        ],
      }),
      404,
      /nodes\/0\/treeId.*nodes\/1\/version.*nodes\/2\/nodeId/,
    );
    refused(await update(_id, { description: 'x', gbac: { write: ['nobody'] } }), 404, /nobody/);
    assert.equal((await shown(_id)).description, '');
  });

  it('are deleted all or none', async () => {
    const ids = [(await make({ name: 'First' }))._id, (await make({ name: 'Second' }))._id];
    refused(await service.ask('DELETE', path, { planIds: [...ids, 'none', 'nil'] }), 404, /none, nil/);
    ok(await service.ask('GET', `${path}/First`));
    const headers = { 'Idempotency-Key': 'delete-2' };
    assert.deepEqual(ok(await service.ask('DELETE', path, { planIds: ids }, headers)), {
      status: 'success',
      message: 'Successfully deleted compliance plans',
    });
    for (const id of ids) refused(await service.ask('GET', `${path}/${id}`), 404);
    assert.equal(ok(await service.ask('DELETE', path, { planIds: [] })).status, 'success');
    await make({ name: 'First' });
  });

  it('are imported as they are shown: no change here, and the same after they were deleted', async () => {
    const variables = { ntp: '192.0.2.1', password: 'hunter2' };
    const made = await make({
      name: 'Moved',
      options: { nodes: [{ ...node, variables }], status: 'active', throttle: 9 },
    });
    assert.deepEqual([made.status, made.throttle, made.nodes.length], ['active', 9, 1]);
    const send = (plans: readonly object[], more: object = {}) =>
      service.ask('POST', '/configuration_manager/import/plans', { plans, ...more });
    ok(await send([made]));
    assert.deepEqual(await shown(made._id), made);
    const other = { ...made, description: 'Another' };
    refused(await send([other]), 409, /plans\/0\/_id/);
    refused(await send([{ ...other, id: undefined, _id: undefined }]), 409, /plans\/0\/name/);
    const { status, data } = ok(await send([other, { name: 'Free' }]));
    assert.deepEqual([status, data.map(({ success }: { success: boolean }) => success)], ['incomplete', [false, true]]);
    ok(await service.ask('DELETE', path, { planIds: [made._id] }));
    const [{ missingSecrets }] = ok(await send([made])).data;
    assert.deepEqual(missingSecrets, ['/plans/0/nodes/0/variables/password']);
    assert.deepEqual(await shown(made._id), made);
    ok(await send([other], { overwrite: true }));
    assert.equal((await shown(made._id)).description, 'Another');
  });

  it('are found by part of their name, in pages', async () => {
    for (const name of ['Find C', 'find a', 'Find b']) await make({ name });
    const found = async (body: object) =>
      ok(await service.ask('POST', '/configuration_manager/search/compliance_plans', body));
    const { totalCount, plans } = await found({ name: 'FIND', options: { start: 1, limit: 1 } });
    assert.deepEqual([totalCount, plans.map(({ name }: { name: string }) => name)], [3, ['Find b']]);
    assert.equal((await found({})).totalCount, (await found({ options: { limit: 1000 } })).plans.length);
    refused(
      await service.ask('POST', '/configuration_manager/search/compliance_plans', { options: { limit: 1001 } }),
      400,
      /"\/options\/limit"/,
    );
  });

  it('are for members of their groups only: hidden from others, not counted, closed to readers', async () => {
    const hidden = await make({ name: 'Gbac hidden', gbac: { write: ['ops'] } });
    const readable = await make({ name: 'Gbac readable', gbac: { read: ['operators'], write: ['ops'] } });
    const found = async (ask: People['member']) =>
      ok(await ask('POST', '/configuration_manager/search/compliance_plans', { name: 'gbac' }));
    assert.equal((await found(who.member)).totalCount, 2);
    assert.deepEqual(await found(who.stranger), { totalCount: 1, plans: [readable], groups: [{ plans: [readable] }] });
    refused(await who.stranger('GET', `${path}/${hidden._id}`), 404);
    refused(await who.stranger('PUT', path, { planId: hidden._id, options: {} }), 404);
    refused(await who.stranger('PUT', path, { planId: readable._id, options: {} }), 403);
    refused(await who.stranger('DELETE', path, { planIds: [hidden._id] }), 404);
    refused(await who.stranger('DELETE', path, { planIds: [readable._id] }), 403, new RegExp(readable._id));
    ok(await who.member('PUT', path, { planId: hidden._id, options: { description: 'x' } }));
  });
});
