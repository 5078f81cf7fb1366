import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const hour = 3_600_000;

const audit = { name: 'audit', data: { workflowId: 'Audit' } };

describe('scheduled jobs over HTTP', () => {
  const service = useService();
  const some = usePeople(service);
  const jobs = '/automation_catalog/scheduled-jobs';
  const migration = '/automation_catalog/automations/migration';
  const takeIn = async (job: object): Promise<string> =>
    ok(await service.ask('POST', jobs, { ...audit, ...job })).data._id;
  const migrate = (agendaJobs: readonly string[], headers?: Record<string, string>) =>
    service.ask('POST', migration, { agendaJobs }, headers);
  const exported = async (name: string) =>
    ok(await service.ask('GET', `/operations-manager/automations/${encodeURIComponent(name)}/export`)).data;
  const automations = async () =>
    (await service.ask('GET', '/operations-manager/automations?limit=1')).body.metadata.total as number;
  const find = async (id: string) =>
    ok(await service.ask('GET', `${jobs}?limit=1000`)).results.find(({ _id }: { _id: string }) => _id === id);

  it('are taken in with ids of their own, also under the same name, and listed', async () => {
    const body = ok(await service.ask('POST', jobs, { ...audit, name: 'twin', priority: 10, unique: { x: 1 } }));
    assert.deepEqual(
      [body.status, body.data.migrated, body.data.automation, body.data.createdBy, body.data.unique],
      ['Created', false, null, 'admin', { x: 1 }],
    );
    assert.match(body.data._id, /^[0-9a-f]{24}$/);
    await takeIn({ name: 'twin' });
    const { total, results } = ok(await service.ask('GET', `${jobs}?multiEquals[name]=twin&sort=created&order=-1`));
    assert.deepEqual([total, results[1]._id], [2, body.data._id]);
    assert.equal(ok(await service.ask('GET', `${jobs}?multiEquals[migrated]=true`)).total, 0);
  });

  it('keep the id that they come with, which nobody else gets', async () => {
    const { data } = ok(await service.ask('POST', jobs, { ...audit, _id: '5f1a2b3c4d5e6f7a8b9c0d1e' }));
    assert.equal(data._id, '5f1a2b3c4d5e6f7a8b9c0d1e');
    assert.equal((await find(data._id)).name, 'audit');
    refused(await service.ask('POST', jobs, { ...audit, name: 'other', _id: data._id }), 409, /exists already/);
    assert.match(await takeIn({ _id: null }), /^[0-9a-f]{24}$/);
    refused(await service.ask('POST', jobs, { ...audit, _id: '' }), 400, /"\/_id"/);
    assert.match(ok(await migrate([data._id])), /^Created 1 automation/);
  });

  it('are refused if something is wrong, at its path', async () => {
    for (const [body, path] of [
      [{ ...audit, repeatInterval: '1 month' }, '/repeatInterval'],
      [{ ...audit, repeatInterval: 90_000 }, '/repeatInterval'],
      [{ ...audit, nextRunAt: 'tomorrow' }, '/nextRunAt'],
      [{ ...audit, data: { workflowId: 'x', formData: { password: '********' } } }, '/data/formData/password'],
      [{ ...audit, data: { workflowId: 'x', gbac: { read: ['ops'] } } }, '/data/gbac/write'],
    ] as const)
      refused(await service.ask('POST', jobs, body), 400, new RegExp(`"path":"${path}`));
  });

  it('become automations with a manual trigger, and a disabled schedule if they had one', async () => {
    const form = { name: 'Site', schema: { type: 'object', title: 'Site', properties: { site: { type: 'string' } } } };
    const { _id: formId } = ok(await service.ask('POST', '/json-forms/forms', form)).data;
    const data = {
      name: 'Nightly backup',
      description: 'All sites',
      workflowId: 'Back up',
      formId,
      formData: { site: 'Bonn' },
      gbac: { write: [{ name: 'ops' }], read: ['readers'] },
    };
    const id = await takeIn({ nextRunAt: '2030-01-01T01:00:00+01:00', repeatInterval: '36 hours', data });
    assert.equal(ok(await migrate([id])), 'Created 1 automation: Nightly backup.');
    const { name, description, componentType, componentName, gbac, triggers, createdBy, _id } =
      await exported('Nightly backup');
    assert.deepEqual(
      { name, description, componentType, componentName, createdBy },
      {
        name: 'Nightly backup',
        description: 'All sites',
        componentType: 'workflows',
        componentName: 'Back up',
        createdBy: 'admin',
      },
    );
    assert.deepEqual(
      [gbac.write, gbac.read].map(([group]) => group.name),
      ['ops', 'readers'],
    );
    const [manual, schedule] = triggers;
    for (const { formId, formData, formSchemaHash, actionId } of triggers)
      assert.deepEqual([formId, formData, formSchemaHash.length, actionId], ['Site', { site: 'Bonn' }, 64, _id]);
    assert.deepEqual(
      [manual.type, manual.enabled, schedule.type, schedule.enabled],
      ['manual', true, 'schedule', false],
    );
    assert.deepEqual(
      [
        schedule.firstRunAt,
        schedule.repeatUnit,
        schedule.repeatFrequency,
        schedule.repeatInterval,
        schedule.processMissedRuns,
      ],
      [Date.UTC(2030, 0, 1), 'hour', 36, 36 * hour, 'none'],
    );
    const job = await find(id);
    assert.deepEqual([job.migrated, job.automation, job.data.gbac], [true, _id, data.gbac]);
    assert.equal(
      ok(
        await service.ask('PUT', '/operations-manager/automations', {
          automations: [await exported('Nightly backup')],
        }),
      ).data[0].success,
      true,
    );
    refused(
      await service.ask('DELETE', '/json-forms/forms', {
        ids: [ok(await service.ask('GET', '/json-forms/forms/Site'))._id],
      }),
      409,
    );
  });

  it('are migrated once, and with other names where theirs are taken', async () => {
    const ids = [
      await takeIn({ name: 'Report' }),
      await takeIn({ name: 'Report (2)' }),
      await takeIn({ name: 'Report' }),
      await takeIn({ name: 'Report' }),
    ];
    ok(await service.ask('POST', '/operations-manager/automations', { name: 'Report' }));
    assert.equal(
      ok(await migrate([ids[0]!, ids[0]!])),
      'Created 1 automation: Report (2). Skipped 1 already migrated: Report.',
    );
    assert.equal(
      ok(await migrate(ids)),
      'Created 3 automations: Report (2) (2), Report (3), Report (4). Skipped 1 already migrated: Report.',
    );
    const before = await automations();
    assert.equal(
      ok(await migrate([...ids, ids[0]!])),
      'Created no automations. Skipped 5 already migrated: Report, Report (2), Report, Report, Report.',
    );
    assert.equal(ok(await migrate([])), 'Created no automations.');
    assert.equal(await automations(), before);
    const long = await takeIn({ name: 'x'.repeat(256) });
    const longToo = await takeIn({ name: 'x'.repeat(256) });
    assert.match(ok(await migrate([long, longToo])), / x{256}, x{252} \(2\)\.$/);
  });

  it('are migrated all or none', async () => {
    const good = await takeIn({ name: 'Good' });
    const bad = await takeIn({
      name: 'Bad',
      data: { workflowId: 'x', formId: 'no such form', gbac: { write: ['nobody', 'no-one'] } },
    });
    const unfit = await takeIn({ name: 'Unfit', data: { workflowId: 'x', formId: 'Site', formData: { site: 1 } } });
    const before = await automations();
    refused(
      await migrate([good, 'f'.repeat(24), 'Good']),
      404,
      /ffffffffffffffffffffffff.*Good.*agendaJobs\/1.*agendaJobs\/2/,
    );
    refused(await migrate([good, bad]), 404, /Bad.*nobody.*no-one.*no such form/);
    refused(await migrate([good, unfit]), 422, /Unfit.*\/site must be string/);
    assert.equal(await automations(), before);
    assert.equal((await find(good)).migrated, false);
    assert.equal((await service.ask('GET', '/operations-manager/automations/Good')).status, 404);
  });

  it('are found, seen and migrated by those that their access lists let', async () => {
    const id = await takeIn({
      name: 'Guarded',
      data: { workflowId: 'x', gbac: { read: ['operators'], write: ['ops'] } },
    });
    const hidden = await takeIn({ name: 'Hidden', data: { workflowId: 'x', gbac: { write: ['ops'] } } });
    refused(await some.stranger('POST', migration, { agendaJobs: [hidden] }), 404);
    refused(await some.stranger('POST', migration, { agendaJobs: [id] }), 403, /agendaJobs\/0/);
    assert.equal(ok(await some.stranger('GET', `${jobs}?multiEquals[name]=Hidden`)).total, 0);
    assert.equal(
      ok(await some.member('POST', migration, { agendaJobs: [id, hidden] })),
      'Created 2 automations: Guarded, Hidden.',
    );
    refused(await some.stranger('GET', '/operations-manager/automations/Hidden'), 404);
  });

  it('keep their secrets sealed, also in the triggers that they become', async () => {
    const id = await takeIn({
      name: 'Secretive',
      repeatInterval: 'an hour',
      data: { workflowId: 'x', formData: { host: 'a', password: 'do-not-tell' }, token: 'nor-this' },
    });
    ok(await migrate([id]));
    const { triggers } = await exported('Secretive');
    assert.deepEqual(
      triggers.map(({ formData }: { formData: object }) => formData),
      Array(2).fill({ host: 'a', password: '********' }),
    );
    assert.equal((await find(id)).data.token, '********');
    assert.equal((await find(id)).data.formData.password, '********');
  });
});
