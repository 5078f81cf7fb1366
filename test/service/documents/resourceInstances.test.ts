import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Instances over HTTP', () => {
  const models = '/lifecycle-manager/resources';
  const path = `${models}/VLAN/instances`;
  const service = useService();
  const some = usePeople(service);
  before(async () => {
    const schema = {
      type: 'object',
      required: ['vlan'],
      additionalProperties: false,
      properties: {
        vlan: { type: 'integer', minimum: 1, maximum: 4094 },
        community: { type: 'string', pattern: '^[a-z]{4,}$' },
      },
    };
    for (const name of ['VLAN', 'Other']) ok(await service.ask('POST', models, { name, schema }));
  });
  afterEach(() => assert.deepEqual(service.lines, []));

  it('are made, found by id and name, replaced and deleted', async () => {
    const model = ok(await service.ask('GET', `${models}/VLAN`)).data;
    const made = ok(
      await some.member('POST', path, { name: 'guests', description: 'Visitors', instanceData: { vlan: 20 } }),
    ).data;
    assert.deepEqual([made.modelId, made.instanceData, made.createdBy.username], [model._id, { vlan: 20 }, 'member']);
    for (const at of [`${path}/guests`, `${models}/${model._id}/instances/${made._id}`])
      assert.deepEqual(ok(await some.reader('GET', at)).data, made);
    assert.equal(
      ok(await service.ask('PUT', `${path}/guests`, { name: 'visitors', instanceData: { vlan: 21 } })).data.description,
      '',
    );
    refused(await service.ask('GET', `${path}/guests`), 404);
    refused(
      await service.ask(
        'PUT',
        `${path}/visitors`,
        { name: 'visitors', instanceData: { vlan: 22 } },
        { 'If-Match': '"0"' },
      ),
      412,
    );
    assert.equal(ok(await service.ask('DELETE', `${path}/visitors`)).data.name, 'visitors');
    refused(await service.ask('GET', `${path}/${made._id}`), 404);
    const { revision } = { revision: (await service.ask('GET', `${models}/VLAN`)).headers.get('etag') };
    assert.match(revision!, /^"0-/, 'editors of the model are not made stale');
  });

  it('have names that are unique within their model, and stay within it', async () => {
    const one = ok(await service.ask('POST', path, { name: 'same', instanceData: { vlan: 1 } })).data;
    refused(await service.ask('POST', path, { name: 'same', instanceData: { vlan: 2 } }), 409, /name/);
    const other = ok(
      await service.ask('POST', `${models}/Other/instances`, { name: 'same', instanceData: { vlan: 2 } }),
    ).data;
    assert.deepEqual(
      [
        ok(await service.ask('GET', `${path}/same`)).data._id,
        ok(await service.ask('GET', `${models}/Other/instances/same`)).data._id,
      ],
      [one._id, other._id],
    );
    for (const [method, body] of [['GET'], ['PUT', { name: 'x', instanceData: { vlan: 3 } }], ['DELETE']] as const)
      refused(await service.ask(method, `${path}/${other._id}`, body), 404);
    assert.deepEqual(
      ok(await service.ask('GET', `${path}?multiContains[name]=sam`)).data.map(({ _id }: { _id: string }) => _id),
      [one._id],
    );
    assert.equal(ok(await service.ask('GET', path)).metadata.total, 1);
  });

  it('are compared as JSON, whatever their members are called', async () => {
    for (const name of ['toString', 'valueOf', 'toJSON', 'constructor', 'hasOwnProperty', 'then', 'length']) {
      const value = { [name]: 1 };
      const made = ok(
        await service.ask('POST', models, {
          name: `Odd ${name}`,
          schema: { properties: { a: { const: value }, b: { enum: [value] }, c: { uniqueItems: true } } },
        }),
      ).data;
      const take = (instanceData: object) =>
        service.ask('POST', `${models}/${made._id}/instances`, { name: 'one', instanceData });
      refused(await take({ a: { [name]: 2 } }), 422, /\/instanceData\/a/);
      refused(await take({ b: { [name]: 'x' } }), 422, /\/instanceData\/b/);
      refused(await take({ c: [value, value] }), 422, /\/instanceData\/c/);
      ok(await take({ a: value, b: value, c: [value, { [name]: 2 }] }));
      for (const keyword of ['required', 'type', '$schema']) {
        const odd = keyword === '$schema' ? value : [value, value];
        refused(await service.ask('POST', models, { name: 'x', schema: { [keyword]: odd } }), 400);
      }
    }
  });

  it('refuse data that do not fit, with the path, and what is not there', async () => {
    refused(
      await service.ask('POST', path, { name: 'bad', instanceData: { vlan: 5000 } }),
      422,
      /\/instanceData\/vlan/,
    );
    refused(await service.ask('POST', path, { name: 'bad', instanceData: {} }), 422, /\/instanceData\/vlan/);
  });

  it('tell nothing of a secret by whether it fits a schema', async () => {
    const model = { name: 'Guessed', schema: {} as object };
    const { _id } = ok(await service.ask('POST', '/lifecycle-manager/resources', model)).data;
    const instances = `/lifecycle-manager/resources/${_id}/instances`;
    ok(await service.ask('POST', instances, { name: 'one', instanceData: { password: 'secret' } }));
    for (const pattern of ['^s', '^x', '^\\*+$']) {
      ok(
        await service.ask('PUT', `/lifecycle-manager/resources/${_id}`, {
          ...model,
          schema: { type: 'object', properties: { password: { pattern } } },
        }),
      );
      ok(
        await service.ask('PUT', `${instances}/one`, { name: 'one', instanceData: { password: '********', pattern } }),
      );
    }
    refused(
      await service.ask('PUT', `${instances}/one`, { name: 'one', instanceData: { password: 'other' } }),
      422,
      /\/instanceData\/password/,
    );
  });

  it('keep secrets: shown as a mask, which also stands for them, and checked in clear when they are new', async () => {
    const made = ok(
      await service.ask('POST', path, { name: 'secretive', instanceData: { vlan: 1, community: 'private' } }),
    ).data;
    assert.deepEqual(made.instanceData, { vlan: 1, community: '********' });
    assert.deepEqual(
      ok(
        await service.ask('PUT', `${path}/secretive`, {
          name: 'secretive',
          instanceData: { vlan: 2, community: '********' },
        }),
      ).data.instanceData,
      { vlan: 2, community: '********' },
    );
    const unchanged = await service.ask('PUT', `${path}/secretive`, {
      name: 'secretive',
      instanceData: { vlan: 2, community: 'private' },
    });
    assert.equal(unchanged.headers.get('etag'), (await service.ask('GET', `${path}/secretive`)).headers.get('etag'));
    refused(
      await service.ask('PUT', `${path}/secretive`, { name: 'secretive', instanceData: { vlan: 2, community: 'NO' } }),
      422,
      /\/instanceData\/community/,
    );
    refused(
      await service.ask('POST', path, { name: 'bare', instanceData: { vlan: 2, community: '********' } }),
      400,
      /\/instanceData\/community/,
    );
  });
});
