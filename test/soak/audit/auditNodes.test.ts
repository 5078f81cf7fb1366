import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { authorityFile } from '../../../src/secrets/certificate.ts';
import { auditKey } from '../../support/auditKey.ts';
import { ok, refused } from '../../support/people.ts';
import { startProgram, temporaryFolder } from '../../support/process.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const secret = { SECRET_KEY: 'a key of sixteen characters', AUDIT_KEY: auditKey };

describe('audits on two nodes, one of which reads the log over esdb://', function () {
  this.timeout(300_000);
  let [owner, other] = [] as unknown as [TestService, TestService];
  let settings: Record<string, string>;
  before(async () => {
    owner = await startService({ ...secret, ESDB_PORT: '0' });
    const { port } = new URL(owner.logUrl ?? '');
    const login = `admin:${encodeURIComponent(adminPassword)}`;
    const authority = authorityFile(owner.folder);
    settings = { ...secret, EVENTSTORE_URL: `esdb://${login}@localhost:${port}?tlsCAFile=${authority}` };
    other = await startService(settings);
  });
  after(async () => {
    await other?.stop();
    await owner?.stop();
  });

  /** What both nodes answer. Positions over the network are those of the log. */
  const both = async (path: string): Promise<any> => {
    const [here, there] = [ok(await owner.ask('GET', path)), ok(await other.ask('GET', path))];
    assert.deepEqual(there, here, path);
    return here;
  };

  it('give the same events, histories, differences and traces', async () => {
    const requestId = randomUUID();
    const path = '/operations-manager/automations';
    const made = await other.ask('POST', path, { name: 'far', description: 'one' }, { 'X-Request-Id': requestId });
    const { _id: id } = ok(made).data;
    const changed = await owner.ask('PATCH', `${path}/${id}`, { description: 'two' });
    const last = { 'X-Min-Position': changed.headers.get('x-event-position') ?? '' };
    ok(await other.ask('GET', `${path}/${id}`, undefined, last));
    const { results } = await both(`/audit/events?resource=automation/${id}`);
    assert.deepEqual(
      results.map(({ topic }: { topic: string }) => topic),
      ['automationChanged', 'automationCreated'],
    );
    assert.equal((await both(`/audit/resources/automation/${id}`)).results.length, 2);
    assert.equal((await both(`/audit/trace/${requestId}`)).results.length, 1);
    const [first] = results.toReversed();
    const { patch } = await both(
      `/audit/diff?resource=automation/${id}&from=${first.position}&to=${changed.headers.get('x-event-position')}`,
    );
    assert.ok(patch.some((one: any) => one.path === '/description' && one.value === 'two'));
    const body = { kind: 'automation', id, position: first.position };
    ok(await other.ask('POST', '/audit/restore', body));
    assert.equal(ok(await other.ask('GET', `${path}/${id}`)).data.description, 'one');

    const folder = temporaryFolder();
    const program = startProgram(['audit', 'show', `automation/${id}`], { ...settings, DATA_DIR: folder });
    assert.equal(await program.ended, 0, program.output().err);
    rmSync(folder, { recursive: true, force: true });
    const lines = program.output().out.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      (await both(`/audit/resources/automation/${id}`)).results,
    );
  });

  it('bring back an automation that was deleted, with its trigger', async () => {
    const path = '/operations-manager/automations';
    const { _id: id } = ok(await owner.ask('POST', path, { name: 'gone' })).data;
    const manual = { type: 'manual', name: 'By hand', formId: null, formData: null };
    const about = { enabled: true, actionType: 'automations', actionId: id };
    const made = await owner.ask('POST', '/operations-manager/triggers', { ...manual, ...about });
    const { _id: trigger } = ok(made).data;
    const position = Number(made.headers.get('x-event-position'));
    const gone = await owner.ask('DELETE', `${path}/${id}`);
    ok(gone);
    const last = { 'X-Min-Position': gone.headers.get('x-event-position') ?? '' };
    ok(await other.ask('GET', '/operations-manager/triggers', undefined, last));
    ok(await other.ask('POST', '/audit/restore', { kind: 'automation', id, position }));
    const { data } = ok(await other.ask('GET', `${path}/${id}/export`));
    assert.deepEqual(
      data.triggers.map(({ _id }: { _id: string }) => _id),
      [trigger],
    );
  });

  it('record what each of them refused', async () => {
    refused(await owner.as(null)('GET', '/operations-manager/jobs'), 401);
    refused(await other.as(null)('GET', '/operations-manager/jobs'), 401);
    refused(await other.as(null)('GET', '/operations-manager/triggers'), 401);
    await until(async () => {
      const { results } = ok(await owner.ask('GET', '/audit/denied'));
      const count = results.reduce((sum: number, row: { count: number }) => sum + row.count, 0);
      return count >= 3;
    }, 'the records of both');
    const { results } = await both('/audit/denied');
    const counted = (operation: string): number =>
      results
        .filter((row: { operation: string }) => row.operation === operation)
        .reduce((sum: number, row: { count: number }) => sum + row.count, 0);
    assert.deepEqual([counted('getJobs'), counted('getTriggers')], [2, 1]);
  });
});
