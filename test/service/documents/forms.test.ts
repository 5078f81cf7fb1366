import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

describe('Forms over HTTP', () => {
  const service = useService();
  const path = '/json-forms/forms';
  const make = async (body: object) => ok(await service.ask('POST', path, body)).data;
  const update = (options: object, headers = {}) => service.ask('PUT', path, { options }, headers);
  const importAll = (forms: readonly object[], more: object = {}, headers = {}) =>
    service.ask('POST', '/json-forms/import/forms', { forms, ...more }, headers);
  /** A layout of containers, one in the other. */
  const deep = (levels: number): object => ({
    type: 'object',
    items: levels === 0 ? [] : [deep(levels - 1)],
  });

  it('keep a validationSchema of any JSON', async () => {
    for (const validationSchema of [[{ rule: 1 }], 'none', 0, false, null, { a: [] }]) {
      const name = `Validated by ${JSON.stringify(validationSchema)}`;
      assert.deepEqual((await make({ name, validationSchema })).validationSchema, validationSchema);
      assert.deepEqual(
        ok(await service.ask('GET', `${path}/${encodeURIComponent(name)}`)).validationSchema,
        validationSchema,
      );
    }
  });

  it('may have choices that are bound later: an empty enum', async () => {
    const schema = { type: 'object', title: 'T', properties: { site: { type: 'string', enum: [] } } };
    assert.deepEqual((await make({ name: 'Bound later', schema })).schema, schema);
  });

  it('are updated by id or name, part by part', async () => {
    const { _id } = await make({ name: 'Updated', version: '1' });
    assert.deepEqual(
      [
        ok(await update({ name: 'Updated', version: '2' })).status,
        ok(await update({ _id, name: 'Renamed' })).data.version,
      ],
      ['OK', '2'],
    );
    const shown = ok(await service.ask('GET', `${path}/Renamed`));
    const { data } = ok(await update(shown));
    assert.deepEqual(data, shown, 'the same again is no change');
    refused(await update({ name: 'Updated', version: '3' }), 404);
    refused(await update({ version: '3' }), 400, /"\/options\/_id"/);
    refused(await update({ id: _id, version: '3' }, { 'If-Match': '"0"' }), 412);
    await make({ name: 'Taken' });
    refused(await update({ _id, name: 'Taken' }), 409, /Taken/);
  });

  it('are deleted all or none', async () => {
    const ids = [(await make({ name: 'First' }))._id, (await make({ name: 'Second' }))._id];
    refused(await service.ask('DELETE', path, { ids: [...ids, 'none'] }), 404, /none/);
    ok(await service.ask('GET', `${path}/First`));
    const headers = { 'Idempotency-Key': 'delete-forms' };
    const { status, data } = ok(await service.ask('DELETE', path, { ids }, headers));
    assert.deepEqual([status, data.ids], ['OK', ids]);
    const again = await service.ask('DELETE', path, { ids }, headers);
    assert.deepEqual([ok(again).data.ids, again.headers.get('idempotency-replayed')], [ids, 'true']);
    for (const id of ids) refused(await service.ask('GET', `${path}/${id}`), 404);
    assert.equal(ok(await service.ask('DELETE', path, { ids: [] })).data, null);
    await make({ name: 'First' });
  });

  it('are imported with ids, times and authors', async () => {
    const document = {
      ...(await make({ name: 'Imported' })),
      created: '2020-01-01T00:00:00.000Z',
      createdBy: 'somebody',
    };
    ok(await service.ask('DELETE', path, { ids: [document._id] }));
    const first = await importAll([document]);
    assert.deepEqual(ok(first).data, [{ success: true, data: document }]);
    assert.deepEqual(ok(await service.ask('GET', `${path}/Imported`)), document);
    const tag = async () => (await service.ask('GET', `${path}/Imported`)).headers.get('etag');
    const before = await tag();
    assert.equal(ok(await importAll([document])).data[0].success, true);
    assert.equal(await tag(), before, 'the same document again is no change');
    refused(await importAll([{ ...document, version: '9' }]), 409, /"\/forms\/0\/_id"/);
    const elsewhere = { ...document, _id: '9'.repeat(24), id: '9'.repeat(24), version: '9' };
    refused(await importAll([elsewhere]), 409, /"\/forms\/0\/name"/);
    assert.deepEqual(ok(await importAll([elsewhere], { overwrite: true })).data[0].data, { ...document, version: '9' });
    const { data } = ok(
      await importAll([
        { ...document, version: '9' },
        { name: 'Too deep', struct: deep(17) },
      ]),
    );
    assert.deepEqual(
      [data[0].success, data[1].success, data[1].data.errors[0].path],
      [true, false, `/forms/1/struct${'/items/0'.repeat(17)}`],
    );
  });

  it('are imported as other installations have written them', async () => {
    const document =
      '{"name":"Foreign","10":1,"2":[1.0,12345678901234567890],"created":"long ago","createdBy":{"username":"admin",' +
      '"gitTokens":{},"firstname":""},"lastUpdated":"2020-01-01T00:00:00Z","description":null,"id":"not hexadecimal",' +
      '"struct":{"type":"object","items":[{"type":"array","title":"No description","items":[{"enum":"none"},7]}]},' +
      '"schema":{"type":"any","title":"","minimum":"low","maximum":18446744073709551615},"uiSchema":["a"],' +
      '"validationSchema":{"10":1e3,"2":-0,"limit":12345678901234567890},"elements":[],"apiKey":"","tags":[1.50]}';
    const exported = async (as = '') => (await service.ask('GET', `${path}/Foreign/export${as}`)).text;
    const send = (forms: string, more = '') =>
      service.ask('POST', '/json-forms/import/forms', `{"forms":[${forms}]${more}}`);
    const {
      data: [{ data, ...rest }],
    } = ok(await send(document));
    assert.deepEqual(rest, { success: true });
    assert.equal(await exported('?as=imported'), document);
    const { _id, id, createdBy, lastUpdated, created } = data;
    assert.deepEqual(
      [_id, id, createdBy, lastUpdated, created.slice(0, 2)],
      ['not hexadecimal', 'not hexadecimal', 'admin', '2020-01-01T00:00:00.000Z', '20'],
    );
    assert.equal('elements' in data, false, 'the service shows what it knows');

    // In our words: the members that the service knows, as it shows them, then the others.
    const read = (await service.ask('GET', `${path}/Foreign`)).text;
    assert.match(read, /"limit":12345678901234567890/);
    assert.equal(
      await exported(),
      `${read.slice(0, -1)},"10":1,"2":[1.0,12345678901234567890],"elements":[],"apiKey":""}`,
    );
    assert.equal(ok(await service.ask('POST', '/json-forms/import/forms', await exported())).data[0].success, true);
    assert.equal(await exported('?as=imported'), document, 'the export in our words again is no change');

    // What was read can be sent back with a change; the rest of the document stays.
    const put = (changes: string) =>
      service.ask('PUT', path, `{"options":${read.replace('"description":null', `"description":${changes}`)}}`);
    ok(await put('null'));
    assert.equal(await exported('?as=imported'), document, 'the same again is no change');
    ok(await put('"Edited"'));
    const { lastUpdated: now } = ok(await service.ask('GET', `${path}/Foreign`));
    assert.equal(
      await exported('?as=imported'),
      document.replace('"description":null', '"description":"Edited"').replace('"2020-01-01T00:00:00Z"', `"${now}"`),
    );
    refused(
      await service.ask('PUT', path, { options: { name: 'Foreign', elements: [] } }),
      400,
      /"\/options\/elements"/,
    );
    refused(
      await service.ask('PUT', path, { options: { name: 'Foreign', struct: { type: 'object', items: [7] } } }),
      400,
      /"\/options\/struct\/items\/0"/,
    );
  });

  it('are replaced by a later version with its own times and authors', async () => {
    const first = { id: 'a1', name: 'Versioned', version: '1', created: '2020-01-01T00:00:00.000Z', extra: 1 };
    const later = { ...first, version: '2', lastUpdated: '2022-01-01T00:00:00.000Z', lastUpdatedBy: 'jo', extra: [2] };
    const exported = async () => ok(await service.ask('GET', `${path}/Versioned/export?as=imported`));
    ok(await importAll([first]));
    refused(await importAll([later]), 409, /"\/forms\/0\/_id"/);
    ok(await importAll([later], { overwrite: true }));
    assert.deepEqual(await exported(), later);
    const renumbered = { ...later, id: 'b2', version: '3', lastUpdated: '2023-01-01T00:00:00.000Z' };
    refused(await importAll([renumbered]), 409, /"\/forms\/0\/name"/);
    const [{ data }] = ok(await importAll([renumbered], { options: { overwrite: true } })).data;
    assert.deepEqual(
      [data._id, data.version, data.created, data.lastUpdated, data.lastUpdatedBy],
      ['a1', '3', '2020-01-01T00:00:00.000Z', '2023-01-01T00:00:00.000Z', 'jo'],
    );
    assert.deepEqual(await exported(), renumbered);
    const { status, text } = await importAll([renumbered]);
    assert.equal(status, 200, text);
    refused(await importAll([{ ...renumbered, extra: 3 }]), 409);
  });

  it('have their secrets sealed where an import brings unknown ones, and say which are missing', async () => {
    const document = {
      name: 'Sealed',
      login: { password: 'opensesame', user: 'jo' },
      tags: [{ token: 'tag secret' }],
      schema: { type: 'object', title: 'T', properties: { password: { type: 'string', secret: 'no secret' } } },
    };
    const masked = { ...document, login: { password: '********', user: 'jo' }, tags: [{ token: '********' }] };
    const exported = async () => ok(await service.ask('GET', `${path}/Sealed/export?as=imported`));
    const [{ data, missingSecrets }] = ok(await importAll([document])).data;
    assert.deepEqual([data.tags, missingSecrets], [masked.tags, undefined]);
    assert.deepEqual(await exported(), masked);
    ok(await importAll([masked]));
    ok(await service.ask('PUT', path, { options: { name: 'Sealed', tags: masked.tags, version: '2' } }));
    assert.deepEqual(await exported(), { ...masked, version: '2' });
    const alone = ok(await service.ask('POST', '/json-forms/import/forms', { ...masked, name: 'Sealed alone' }));
    assert.deepEqual(alone.data[0].missingSecrets, ['/login/password', '/tags/0/token']);
    const elsewhere = { ...masked, name: 'Sealed elsewhere' };
    const { data: both } = ok(await importAll([{ name: 'Open' }, elsewhere]));
    assert.deepEqual(
      both.map((one: { missingSecrets?: unknown }) => one.missingSecrets),
      [undefined, ['/forms/1/login/password', '/forms/1/tags/0/token']],
    );
    assert.deepEqual(ok(await service.ask('GET', `${path}/Sealed elsewhere/export?as=imported`)), elsewhere);
  });

  it('are refused by an import where the API document says otherwise', async () => {
    const faulty = async (members: object, at: RegExp) =>
      refused(await importAll([{ name: 'Odd', ...members }]), 400, at);
    await faulty({ struct: { items: [] } }, /"\/forms\/0\/struct\/type"/);
    await faulty({ struct: { type: 'object', items: {} } }, /"\/forms\/0\/struct\/items"/);
    await faulty({ struct: { type: 'object', items: [], nodeId: 1 } }, /"\/forms\/0\/struct\/nodeId"/);
    await faulty({ schema: { type: 'object' } }, /"\/forms\/0\/schema\/title"/);
    await faulty({ schema: { type: 'object', title: '', required: true } }, /"\/forms\/0\/schema\/required"/);
    await faulty({ description: 1 }, /"\/forms\/0\/description"/);
    await faulty({ id: 1 }, /"\/forms\/0\/id"/);
    await faulty({ created: 1 }, /"\/forms\/0\/created"/);
    await faulty({ createdBy: ['jo'] }, /"\/forms\/0\/createdBy/);
    await faulty({ name: '' }, /"\/forms\/0\/name"/);
  });

  it('are imported once under one key, also without an id', async () => {
    const headers = { 'Idempotency-Key': 'import-forms' };
    const [{ data }] = ok(await importAll([{ name: 'Keyless' }], {}, headers)).data;
    const again = await importAll([{ name: 'Keyless' }], {}, headers);
    assert.deepEqual([ok(again).data[0].data, again.headers.get('idempotency-replayed')], [data, 'true']);
  });
});
