import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { endpoint, event, manual, schedule } from '../../support/samples/triggers.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Triggers over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  let actionId: string;
  const path = '/operations-manager/triggers';
  const automation = async (body: object): Promise<string> =>
    ok(await service.ask('POST', '/operations-manager/automations', body)).data._id;
  const send = async (body: object) => ok(await service.ask('POST', path, body)).data;
  const make = (body: object) => send({ ...manual, actionId, ...body });
  const tagOf = async (id: string) => (await service.ask('GET', `${path}/${id}`)).headers.get('etag');
  const refusedFor = async (body: object, status: number, about: RegExp) =>
    refused(await service.ask('POST', path, body), status, about);
  before(async () => {
    actionId = await automation({ name: 'Open' });
    ok(await service.ask('POST', '/json-forms/forms', { name: manual.formId }));
  });

  it('are created in each variant, and show up complete', async () => {
    for (const variant of [endpoint, event, manual, { ...schedule, repeatUnit: 'week', repeatFrequency: 1 }]) {
      const answer = await service.ask('POST', path, { ...variant, actionId, name: `Made ${variant.type}` });
      const { message, data } = ok(answer);
      assert.equal(message, 'Successfully created trigger');
      assert.deepEqual(
        [data.migrationVersion, data.lastExecuted, data.legacyWrapper],
        [3, null, variant.type === 'endpoint' ? undefined : true],
      );
      if (variant.type === 'schedule') {
        assert.deepEqual([data.repeatInterval, data.lastIntervalStart], [604_800_000, null]);
        assert.ok(data.nextRunAt >= schedule.firstRunAt);
      }
      const shown = await service.ask('GET', `${path}/${data._id}`);
      assert.deepEqual(ok(shown).data, data);
      assert.equal(shown.headers.get('etag'), answer.headers.get('etag'));
    }
  });

  it('have names unique within their automation, and routes unique among all', async () => {
    const other = await automation({ name: 'Other' });
    await make({ name: 'Same' });
    await refusedFor({ ...manual, actionId, name: 'Same' }, 409, /Same/);
    const there = await make({ name: 'Same', actionId: other });
    refused(await service.ask('GET', `${path}/Same`), 409, /use the id/);
    refused(await service.ask('PATCH', `${path}/Same`, { enabled: false }), 409, /use the id/);
    await send({ ...endpoint, actionId, name: 'Route 1', routeName: 'unique' });
    await refusedFor({ ...endpoint, actionId: other, name: 'Route 2', routeName: 'unique' }, 409, /unique/);
    ok(await service.ask('PATCH', `${path}/Route 1`, { routeName: 'renamed' }));
    await send({ ...endpoint, actionId: other, name: 'Route 2', routeName: 'unique' });
    refused(await service.ask('PATCH', `${path}/${there._id}`, { actionId }), 409, /Same/);
  });

  it('change by what a patch says, and not when someone else was faster', async () => {
    const { _id } = await make({ name: 'Changing', description: 'Before' });
    const { data } = ok(
      await service.ask('PATCH', `${path}/${_id}`, { enabled: false, description: null }, { 'If-Match': '"0"' }),
    );
    assert.deepEqual(
      [data.enabled, 'description' in data, data.createdBy === data.lastUpdatedBy],
      [false, false, true],
    );
    refused(await service.ask('PATCH', `${path}/${_id}`, { type: 'schedule' }), 400, /"\/type"/);
    refused(await service.ask('PATCH', `${path}/${_id}`, { lastExecuted: 5 }), 400, /"\/lastExecuted"/);
    assert.deepEqual(ok(await service.ask('GET', `${path}/Changing`)).data, data);
  });

  it('are imported with ids, times and authors', async () => {
    const document = {
      ...(await make({ name: 'Imported' })),
      created: '2020-01-01T00:00:00.000Z',
      createdBy: 'somebody',
    };
    ok(await service.ask('DELETE', `${path}/${document._id}`));
    const { data } = ok(await service.ask('PUT', path, { triggers: [document] }));
    assert.deepEqual(data, [{ success: true, data: document }]);
    assert.deepEqual(ok(await service.ask('GET', `${path}/${document._id}`)).data, document);
    const tag = await tagOf(document._id);
    assert.equal(ok(await service.ask('PUT', path, { triggers: [document] })).data[0].success, true);
    assert.equal(await tagOf(document._id), tag, 'the same document again is no change');
    refused(
      await service.ask('PUT', path, { triggers: [{ ...document, enabled: false }] }),
      409,
      /"\/triggers\/0\/_id"/,
    );
    const both = ok(
      await service.ask('PUT', path, {
        triggers: [
          { ...document, enabled: false },
          { ...document, actionId: 'f'.repeat(24) },
        ],
        overwrite: true,
      }),
    );
    assert.deepEqual(
      [both.data[0].data.enabled, both.data[1].success, both.data[1].data.errors[0].path],
      [false, false, '/triggers/1/actionId'],
    );
  });

  it('are not imported into an automation that is not there, nor with impossible times', async () => {
    const gone = await automation({ name: 'Gone' });
    const document = await make({ name: 'Orphan', actionId: gone });
    ok(await service.ask('DELETE', '/operations-manager/automations/Gone'));
    refused(await service.ask('PUT', path, { triggers: [document] }), 404, /"\/triggers\/0\/actionId"/);
    for (const created of ['2020-02-30T00:00:00Z', '2016-12-31T23:59:60Z', '2020-01-01 00:00:00Z', 'yesterday'])
      refused(
        await service.ask('PUT', path, { triggers: [{ ...document, actionId, created }] }),
        400,
        /"\/triggers\/0\/created"/,
      );
    const [{ data }] = ok(
      await service.ask('PUT', path, { triggers: [{ ...document, actionId, created: '2020-01-01T02:00:00+02:00' }] }),
    ).data;
    assert.equal(data.created, '2020-01-01T00:00:00.000Z');
  });

  it('follow the access lists of their automation', async () => {
    const closed = await automation({ name: 'Closed', gbac: { write: ['ops'] } });
    const readable = await automation({ name: 'Readable', gbac: { read: ['operators'], write: ['ops'] } });
    const hidden = await make({ name: 'Hidden', actionId: closed });
    const seen = await make({ name: 'Seen', actionId: readable });
    const list = `${path}?multiEquals[name]=Hidden&multiEquals[name]=Seen`;
    assert.equal(ok(await who.member('GET', list)).metadata.total, 2);
    assert.deepEqual(
      [ok(await who.stranger('GET', list)).data, ok(await who.stranger('GET', list)).metadata.total],
      [[seen], 1],
    );
    refused(await who.stranger('GET', `${path}/${hidden._id}`), 404);
    refused(await who.stranger('PATCH', `${path}/${hidden._id}`, { enabled: false }), 404);
    refused(await who.stranger('PATCH', `${path}/${seen._id}`, { enabled: false }), 403);
    refused(await who.stranger('DELETE', `${path}/${seen._id}`), 403);
    refused(await who.stranger('POST', path, { ...manual, actionId: closed, name: 'Mine' }), 404, /"\/actionId"/);
    refused(await who.stranger('POST', path, { ...manual, actionId: readable, name: 'Mine' }), 403);
    const own = ok(await who.stranger('POST', path, { ...manual, actionId, name: 'Mine' })).data;
    refused(await who.stranger('PATCH', `${path}/${own._id}`, { actionId: readable }), 403);
    refused(await who.stranger('PATCH', `${path}/${own._id}`, { actionId: closed }), 404);
    refused(await who.stranger('PUT', path, { triggers: [{ ...hidden, enabled: false }], overwrite: true }), 409);
    ok(await service.ask('PATCH', '/operations-manager/automations/Closed', { gbac: { read: [], write: [] } }));
    ok(await who.stranger('GET', `${path}/${hidden._id}`));
  });
});
