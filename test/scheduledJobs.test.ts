import assert from 'node:assert/strict';
import { intervalOf, inUnits } from '../src/domain/automation-catalog/intervals.ts';
import {
  type Candidate,
  decideMigration,
  inWords,
  scheduledJobMigration,
} from '../src/domain/automation-catalog/scheduledJobMigrations.ts';
import {
  create,
  markMigrated,
  type ScheduledJob,
  scheduledJob,
} from '../src/domain/automation-catalog/scheduledJobs.ts';
import { specification } from './given.ts';
import { ok, type People, people, refused } from './people.ts';
import { startService, type TestService } from './service.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000] as const;

describe('intervals of scheduled jobs', () => {
  const intervals: readonly (readonly [number | string, number])[] = [
    [minute, minute],
    ['3600000', hour],
    ['1 day', day],
    ['3 hours and 15 minutes', 3 * hour + 15 * minute],
    ['2 weeks', 14 * day],
    ['an hour', hour],
    ['A day, two hours and 1.5 minutes and 30 seconds', day + 2 * hour + 2 * minute],
    ['  12   HOURS ', 12 * hour],
    ['1.1 hours', 66 * minute],
    ['minute', minute],
    ['5200 weeks', 5200 * 7 * day],
  ];
  for (const [given, expected] of intervals)
    it(`${JSON.stringify(given)} is ${expected} ms`, () => assert.equal(intervalOf(given), expected));

  for (const given of [
    0,
    -minute,
    90_000,
    5201 * 7 * day,
    '',
    'and',
    '90 seconds',
    '0 3 * * *',
    '1 month',
    'a year',
    'two',
    '1 day 3',
    '3 3 hours',
    '-1 day',
    '1e3 days',
    '5201 weeks',
    '9'.repeat(256),
    'constructor',
    'a '.repeat(128),
  ])
    it(`${JSON.stringify(given).slice(0, 40)} is none`, () => assert.equal(intervalOf(given), undefined));

  it('are told in the largest unit that divides them', () => {
    assert.deepEqual([90 * minute, hour, 36 * hour, 7 * day, 10 * day].map(inUnits), [
      { repeatUnit: 'minute', repeatFrequency: 90 },
      { repeatUnit: 'hour', repeatFrequency: 1 },
      { repeatUnit: 'hour', repeatFrequency: 36 },
      { repeatUnit: 'week', repeatFrequency: 1 },
      { repeatUnit: 'day', repeatFrequency: 10 },
    ]);
  });
});

const audit = { name: 'audit', data: { workflowId: 'Audit' } };

describe('a scheduled job', () => {
  const given = specification(scheduledJob);
  const creating = (job: ScheduledJob) => given().when(create, job, { sealed: job });

  it('is kept as it was, with times in UTC, without what only the service knows', () => {
    const sent = {
      ...audit,
      _id: 'theirs',
      migrated: true,
      nextRunAt: '2026-12-01T03:00:00+01:00',
      lastRunAt: null,
      shouldSaveResult: { any: [1] },
    };
    creating(sent).then({
      topic: 'scheduledJobCreated',
      data: {
        ...audit,
        nextRunAt: '2026-12-01T02:00:00.000Z',
        lastRunAt: null,
        shouldSaveResult: { any: [1] },
      } as ScheduledJob,
    });
  });
  it('needs an interval of whole minutes', () =>
    creating({ ...audit, repeatInterval: '0 3 * * *' }).thenRefused('invalid', /"path":"\/repeatInterval"/));
  it('needs times that a schedule can have', () => {
    for (const nextRunAt of ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])
      creating({ ...audit, nextRunAt }).then({ topic: 'scheduledJobCreated', data: { ...audit, nextRunAt } });
    creating({ ...audit, nextRunAt: '1969-12-31T23:59:59.999Z' }).thenRefused('invalid', /"path":"\/nextRunAt"/);
    creating({ ...audit, lastRunAt: '9999-12-31T23:00:00.000-01:00' }).thenRefused('invalid', /"path":"\/lastRunAt"/);
  });
  it('needs somebody who may write if only some may read', () =>
    creating({ ...audit, data: { workflowId: 'Audit', gbac: { read: ['ops'] } } }).thenRefused(
      'invalid',
      /"path":"\/data\/gbac\/write"/,
    ));
  it('is marked once', () => {
    const created = { topic: 'scheduledJobCreated', data: audit } as const;
    const marked = { topic: 'scheduledJobMigrated', data: { automation: 'a' } } as const;
    given(created).when(markMigrated, { automation: 'a' }).then(marked);
    given(created, marked).when(markMigrated, { automation: 'b' }).thenNothing();
  });
});

describe('the decision to migrate', () => {
  const migrating = (...refs: readonly Candidate[]) =>
    specification(scheduledJobMigration)().when(decideMigration, {}, refs);
  const unscheduled = { title: 'Audit', nextRunAt: undefined, lastRunAt: undefined, repeatInterval: undefined };
  const candidate: Candidate = {
    job: 'j',
    content: unscheduled,
    migrated: false,
    writable: true,
    unknownGroups: [],
    name: 'Audit',
  };
  const becoming = {
    job: 'j',
    automation: 'id of automation j',
    name: 'Audit',
    manual: 'id of manual j',
    schedule: null,
    formSchemaHash: null,
  };
  const decided = (migrated: object, skipped: readonly { job: string; name: string }[] = []) =>
    ({ topic: 'migrationDecided', data: { migrated: [{ ...becoming, ...migrated }], skipped } }) as const;
  const scheduled = (times: object): Candidate => ({ ...candidate, content: { ...unscheduled, ...times } });
  const schedule = (firstRunAt: string, repeatUnit: 'day' | null = 'day') =>
    decided({
      schedule: {
        _id: 'id of schedule j',
        firstRunAt: Date.parse(firstRunAt),
        repeatUnit,
        repeatFrequency: repeatUnit && 1,
      },
    });

  it('gives a job that was not scheduled no schedule', () => migrating(candidate).then(decided({})));
  it('begins when the job was to run next', () =>
    migrating(
      scheduled({
        nextRunAt: '2026-12-01T02:00:00.000Z',
        lastRunAt: '2025-01-01T00:00:00.000Z',
        repeatInterval: '1 day',
      }),
    ).then(schedule('2026-12-01T02:00:00Z')));
  it('and runs once if it did not repeat', () =>
    migrating(scheduled({ nextRunAt: '2026-12-01T02:00:00.000Z' })).then(schedule('2026-12-01T02:00:00Z', null)));
  it('else an interval after it ran last', () =>
    migrating(scheduled({ lastRunAt: '2025-01-01T04:00:00.000Z', repeatInterval: day })).then(
      schedule('2025-01-02T04:00:00Z'),
    ));
  it('else an interval from now', () =>
    migrating(scheduled({ repeatInterval: 'a day' })).then(schedule('2026-01-02T00:00:00Z')));
  it('keeps the name of its form and the hash', () =>
    migrating({ ...candidate, formId: 'id of f', form: { name: 'f', schemaHash: 'abc', faults: [] } }).then(
      decided({ formSchemaHash: 'abc', formName: 'f' }),
    ));
  it('skips what is migrated, and what comes a second time', () =>
    migrating({ ...candidate, job: 'old', migrated: true }, candidate, candidate).then(
      decided({}, [
        { job: 'old', name: 'Audit' },
        { job: 'j', name: 'Audit' },
      ]),
    ));
  it('is none if all are migrated, and none of nothing', () => {
    migrating({ ...candidate, migrated: true }).thenNothing();
    migrating().thenNothing();
  });
  it('names all that are not there, and where', () => {
    const { content: _, ...missing } = candidate;
    migrating(missing, candidate, { ...missing, job: 'k' }).thenRefused(
      'not_found',
      /\\"j\\".*\\"k\\".*"path":"\/agendaJobs\/0".*"path":"\/agendaJobs\/2"/,
    );
  });
  it('names groups and forms that are not there, with the job', () => {
    const wrong = { ...candidate, unknownGroups: ['gone', 'away'], formId: 'lost', form: null };
    migrating(wrong).thenRefused(
      'not_found',
      /\\"Audit\\" \(j\) names the group \\"gone\\".*\\"away\\".*the form \\"lost\\"/,
    );
  });
  it('refuses form data that do not fit, and jobs that only others may change', () => {
    migrating({
      ...candidate,
      form: { schemaHash: '', faults: [{ message: 'must be string', path: '/site' }] },
    }).thenRefused('unprocessable', /"at":"\/data\/formData\/site"/);
    migrating({ ...candidate, writable: false }).thenRefused('forbidden', /\/agendaJobs\/0/);
  });
  it('is told in a sentence', () => {
    assert.equal(
      inWords(['Nightly backup', 'Weekly audit'], ['Old report']),
      'Created 2 automations: Nightly backup, Weekly audit. Skipped 1 already migrated: Old report.',
    );
    assert.equal(inWords(['One'], []), 'Created 1 automation: One.');
    assert.equal(inWords([], []), 'Created no automations.');
  });
});

describe('scheduled jobs over HTTP', () => {
  let service: TestService;
  let some: People;
  before(async () => {
    service = await startService();
    some = await people(service);
  });
  after(() => service.stop());
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
      [{ name: 'x' }, '/data'],
      [{ name: 'x', data: {} }, '/data/workflowId'],
      [{ ...audit, repeatInterval: '1 month' }, '/repeatInterval'],
      [{ ...audit, repeatInterval: 90_000 }, '/repeatInterval'],
      [{ ...audit, nextRunAt: 'tomorrow' }, '/nextRunAt'],
      [{ ...audit, data: { workflowId: 'x', formData: [] } }, '/data/formData'],
      [{ ...audit, data: { workflowId: 'x', formData: { password: '********' } } }, '/data/formData/password'],
      [{ ...audit, data: { workflowId: 'x', gbac: { read: ['ops'] } } }, '/data/gbac/write'],
    ] as const)
      refused(await service.ask('POST', jobs, body), 400, new RegExp(`"path":"${path}`));
    refused(await some.reader('POST', jobs, audit), 403);
    refused(await some.reader('POST', migration, { agendaJobs: [] }), 403);
    for (const body of [{}, { agendaJobs: 'x' }, { agendaJobs: [1] }, { agendaJobs: [], more: 1 }])
      refused(await service.ask('POST', migration, body), 400);
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

  it('are migrated once for one Idempotency-Key', async () => {
    const [one, two] = [await takeIn({ name: 'Keyed' }), await takeIn({ name: 'Other' })];
    const first = await migrate([one], { 'Idempotency-Key': 'k1' });
    const again = await migrate([one], { 'Idempotency-Key': 'k1' });
    assert.deepEqual(
      [first.body, again.body, again.headers.get('idempotency-replayed')],
      ['Created 1 automation: Keyed.', 'Created 1 automation: Keyed.', 'true'],
    );
    refused(await migrate([two], { 'Idempotency-Key': 'k1' }), 422);
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
