import assert from 'node:assert/strict';
import { intervalOf, inUnits } from '../../../src/domain/automation-catalog/intervals.ts';
import {
  type Candidate,
  decideMigration,
  inWords,
  scheduledJobMigration,
} from '../../../src/domain/automation-catalog/scheduledJobMigrations.ts';
import {
  create,
  markMigrated,
  type ScheduledJob,
  scheduledJob,
} from '../../../src/domain/automation-catalog/scheduledJobs.ts';
import { specification } from '../../support/given.ts';

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
