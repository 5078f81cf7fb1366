import assert from 'node:assert/strict';
import { exactText, exactValue } from '@automation-platform/json';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const mask = '********';
const catalog = '/automation_catalog';
const jobs = `${catalog}/scheduled-jobs`;

/** A scheduled job as installations publish it. */
const published = (id: string, more: object = {}, data: object = {}) => ({
  _id: id.padStart(24, '0'),
  name: 'WorkflowJob',
  data: {
    workflowId: 'Back up',
    description: 'All sites',
    formId: null,
    formData: null,
    formSchemaHash: 1234,
    gbac: { write: [], read: [] },
    lastUpdated: '2023-05-04T09:00:00.000Z',
    modifiedById: '5',
    modifiedByUsername: 'nora',
    ...data,
  },
  type: 'normal',
  priority: 0,
  nextRunAt: null,
  lastRunAt: null,
  repeatInterval: null,
  repeatTimezone: null,
  lastModifiedBy: 'scheduler',
  tags: [{ name: 'old' }],
  ...more,
});

describe('Scheduled jobs of other installations', () => {
  const service = useService();
  const some = usePeople(service);

  const take = (job: unknown, more: object = {}) =>
    service.ask('POST', `${catalog}/import/scheduled-jobs`, { scheduledJobs: [job], ...more });
  const taken = async (job: unknown, more: object = {}) => {
    const answer = await take(job, more);
    const [{ success, data, missingSecrets }] = ok(answer).data;
    assert.ok(success, answer.text);
    return { data, missingSecrets, position: answer.headers.get('x-event-position') };
  };
  const given = async (id: string, as?: 'imported') =>
    ok(await service.ask('GET', `${jobs}/${id}/export${as ? `?as=${as}` : ''}`));
  const migrate = (id: string) => service.ask('POST', `${catalog}/automations/migration`, { agendaJobs: [id] });

  it('are kept whole; answers show what the service knows, exports all', async () => {
    const job = published('1', { nextRunAt: '2030-01-01T01:00:00+01:00', repeatInterval: '1 day' });
    const { data } = await taken(job);
    const { _id } = job;
    assert.deepEqual(
      [data._id, data.migrated, data.automation, data.nextRunAt, data.createdBy],
      [_id, false, null, '2030-01-01T00:00:00.000Z', 'admin'],
    );
    for (const unknown of ['tags', 'formSchemaHash', 'modifiedById'])
      assert.ok(!JSON.stringify(data).includes(unknown), unknown);
    assert.deepEqual(ok(await service.ask('GET', `${jobs}/${_id}`)), data);
    assert.deepEqual(await given(_id, 'imported'), job);
    const ours = await given(_id);
    assert.deepEqual(ours, {
      ...data,
      tags: job.tags,
      data: {
        ...data.data,
        formSchemaHash: 1234,
        lastUpdated: '2023-05-04T09:00:00.000Z',
        modifiedById: '5',
        modifiedByUsername: 'nora',
      },
    });
  });

  it('are no change a second time, in either form; other content is a conflict', async () => {
    const job = published('2');
    const { position } = await taken(job);
    for (const again of [job, await given(job._id), await given(job._id, 'imported')])
      assert.equal((await taken(again)).position, position);
    for (const other of [
      published('2', { priority: 10 }),
      published('2', { tags: [] }),
      published('2', {}, { formSchemaHash: 4321 }),
    ]) {
      refused(await take(other), 409, /"\/scheduledJobs\/0\/_id"/);
      await taken(other, { overwrite: true });
      assert.deepEqual(await given(job._id, 'imported'), other);
    }
  });

  it('get an id derived from them if they have none', async () => {
    const { _id: _, ...job } = published('3', { name: 'Nameless' });
    const first = await taken(job);
    assert.match(first.data._id, /^[0-9a-f]{24}$/);
    assert.equal((await taken(job)).position, first.position);
    assert.notEqual((await taken({ ...job, priority: 5 })).data._id, first.data._id);
    assert.deepEqual(await given(first.data._id, 'imported'), job);
  });

  it('that were made here are exported, and come in again', async () => {
    const made = { name: 'Made', data: { workflowId: 'x', other: [1] }, unique: { x: 1 }, lastRunAt: null };
    const { _id } = ok(await service.ask('POST', jobs, made)).data;
    const text = await given(_id);
    assert.deepEqual(text, ok(await service.ask('GET', `${jobs}/${_id}`)));
    assert.deepEqual(await given(_id, 'imported'), text);
    const position = (await taken(text)).position;
    assert.equal((await taken(await given('Made'))).position, position);
    refused(await take({ ...text, unique: 1 }), 409);
  });

  it('name their form in exports, so that another installation finds it; either word is the same document', async () => {
    const form = { name: 'Sites', schema: { type: 'object', title: 'Sites', properties: {} } };
    const { id } = ok(await service.ask('POST', '/json-forms/forms', form)).data;
    const job = published('8', { name: 'With a form' }, { formId: id, formData: {} });
    const { position } = await taken(job);
    const ours = await given(job._id);
    assert.equal(ours.data.formId, 'Sites');
    assert.equal((await given(job._id, 'imported')).data.formId, id);
    for (const again of [job, ours]) assert.equal((await taken(again)).position, position);
    assert.equal(ok(await service.ask('GET', `${jobs}/${job._id}`)).data.formId, id);
    const elsewhere = { ...ours, _id: '9'.padStart(24, '0'), name: 'Elsewhere' };
    await taken(elsewhere);
    ok(await migrate(elsewhere._id));
  });

  it('keep what fits no schedule of ours, and numbers as they were written', async () => {
    const text =
      '{"repeatInterval":"0 3 * * *","nextRunAt":"tomorrow","name":"Cron","priority":1.0,"10":1,"2":[1e3],' +
      '"_id":"000000000000000000000004","failCount":12345678901234567890,' +
      '"data":{"formData":{"n":12345678901234567890,"1":2.50},"workflowId":"x","formId":7}}';
    ok(await service.ask('POST', `${catalog}/import/scheduled-jobs`, `{"scheduledJobs":[${text}]}`));
    const exact = async (path: string) => exactText(exactValue((await service.ask('GET', path)).text));
    assert.equal(await exact(`${jobs}/Cron/export?as=imported`), text);
    const shown = await exact(`${jobs}/Cron`);
    assert.ok(shown.includes('"formData":{"n":12345678901234567890,"1":2.50}'), shown);
    for (const unknown of ['nextRunAt', 'failCount', 'formId']) assert.ok(!shown.includes(unknown), unknown);
    refused(await migrate('Cron'), 404);
    refused(await migrate('000000000000000000000004'), 422, /0 3 \* \* \*.*2\^53-1.*repeatInterval.*formData\/n/);
    await taken(published('4', { repeatInterval: '1 hour' }, { formData: { site: 'Bonn' } }), { overwrite: true });
    assert.equal(ok(await migrate('000000000000000000000004')), 'Created 1 automation: WorkflowJob.');
  });

  it('stay as they are once they are automations', async () => {
    const job = published('5', { name: 'Settled' });
    await taken(job);
    ok(await migrate(job._id));
    assert.equal((await taken(job)).data.migrated, true);
    assert.deepEqual(await given(job._id, 'imported'), job);
    assert.equal((await given(job._id)).migrated, true);
    refused(await take({ ...job, priority: 3 }, { overwrite: true }), 409, /has become an automation/);
  });

  it('hide their secrets; a mask keeps the secret, or is missing', async () => {
    const secret = (password: string, apiKey: string) =>
      published('6', { name: 'Secret', plugin: { apiKey } }, { formData: { host: 'a', password } });
    const { missingSecrets } = await taken(secret('hunter2', mask));
    assert.deepEqual(missingSecrets, ['/scheduledJobs/0/plugin/apiKey']);
    await taken(secret(mask, 'key-1'), { overwrite: true });
    const { position, missingSecrets: none } = await taken(secret(mask, mask));
    assert.equal(none, undefined);
    assert.equal((await taken(await given('Secret'))).position, position);
    const { _id } = secret(mask, mask);
    for (const path of [`/${_id}`, `/${_id}/export`, `/${_id}/export?as=imported`, '?limit=1000']) {
      const { text } = await service.ask('GET', jobs + path);
      assert.match(text, /\*{8}/);
      assert.doesNotMatch(text, /hunter2|key-1/);
    }
    ok(await migrate(_id));
    const { data } = ok(await service.ask('GET', '/operations-manager/automations/WorkflowJob/export'));
    assert.ok(data);
  });

  it('are refused with the path, and for those whom their access lists keep out', async () => {
    const job = published('7', { name: 'Guarded' }, { gbac: { write: ['ops'], read: [] } });
    for (const [odd, at] of [
      [{ ...job, name: 1 }, '/name'],
      [{ name: 'x' }, '/data'],
      [{ ...job, data: { workflowId: '' } }, '/data/workflowId'],
      [{ ...job, data: { ...job.data, gbac: { read: ['ops'] } } }, '/data/gbac/write'],
      [{ ...job, data: { ...job.data, gbac: { write: [1] } } }, '/data/gbac/write/0'],
    ] as const)
      refused(await take(odd), 400, new RegExp(`"/scheduledJobs/0${at}`));
    await taken(job);
    refused(await some.stranger('GET', `${jobs}/${job._id}`), 404);
    refused(await some.stranger('GET', `${jobs}/${job._id}/export`), 404);
    const body = { scheduledJobs: [{ ...job, priority: 9 }], overwrite: true };
    refused(await some.stranger('POST', `${catalog}/import/scheduled-jobs`, body), 409);
    ok(await some.member('POST', `${catalog}/import/scheduled-jobs`, body));
    refused(await some.reader('POST', `${catalog}/import/scheduled-jobs`, body), 403);
  });
});
