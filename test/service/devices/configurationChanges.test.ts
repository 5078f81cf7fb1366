import assert from 'node:assert/strict';
import { builtInOf } from '../../support/builtIn.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const manager = '/configuration_manager';
const names = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`);

describe('Changes of many devices', () => {
  const service = useService();
  const who = usePeople(service);
  const jobs = builtInOf((...args) => service.ask(...args));
  before(async () => {
    const devices = names(12, 'sw').map((name) => ({ name, ostype: 'cisco-ios' }));
    ok(await service.ask('POST', `${manager}/adapters`, { name: 'farm', type: 'lab', properties: {}, devices }));
    const hidden = {
      name: 'Vault',
      groups: ['ops'],
      devices: [{ name: 'vault-1', attributes: { protocol: 'lab', host: 'vault-1' } }],
    };
    ok(await service.ask('POST', '/inventory_manager/v1/inventories', hidden));
  });

  const change = (body: object, ask = service.ask, headers: Record<string, string> = {}) =>
    ask('POST', `${manager}/changes`, body, headers);
  const rowsOf = async (jobId: string, query = '?limit=1000', ask = service.ask) =>
    ok(await ask('GET', `${manager}/changes/${jobId}${query}`));
  const ended = async (body: object) => {
    const { jobId } = ok(await change(body));
    const job = await jobs.inState(jobId, 'complete', 'error');
    return { jobId, job, rows: await rowsOf(jobId) };
  };
  const attempts = async () =>
    ok(await service.ask('GET', '/audit/events?topic=deviceConfigurationAttempted&limit=1000')).results.length;
  const statuses = ({ list }: { list: { device: string; status: string }[] }) =>
    Object.fromEntries(list.map(({ device, status }) => [device, status]));

  it('have a row for each, with its diff and copies; the text is sealed', async () => {
    const devices = names(6, 'sw');
    const config = 'snmp-server community s3cret RO\nvlan 7\n name seven';
    const { jobId, job, rows } = await ended({ devices: [...devices, 'sw-1'], config, throttle: 3 });
    assert.deepEqual([job.status, rows.status, rows.total, rows.totals.sent], ['complete', 'complete', 6, 6]);
    assert.deepEqual(
      rows.list.map(({ device }: { device: string }) => device),
      devices,
    );
    for (const { device, status, diff, backups } of rows.list) {
      assert.equal(status, 'sent');
      assert.match(diff, /^\+vlan 7\n\+ name seven$/m);
      assert.equal(ok(await service.ask('GET', `${manager}/backups/${backups.before}`)).name, device);
    }
    assert.equal(job.variables.config, '********');
    assert.ok(!JSON.stringify(rows).includes('s3cret'));
    const page = await rowsOf(jobId, '?status=sent&start=4&limit=1');
    assert.deepEqual([page.total, page.list[0].device], [6, 'sw-5']);
    assert.equal((await rowsOf(jobId, '?status=failed')).total, 0);
    refused(await service.ask('GET', `${manager}/changes/${jobId}?status=lost`), 400, /status/);
  });

  it('say what a device refused, and go on with the others', async () => {
    const { job, rows } = await ended({ devices: ['sw-1', 'nobody', 'sw-2'], config: 'gibberish here' });
    assert.equal(job.status, 'error');
    assert.deepEqual(statuses(rows), { nobody: 'notSent', 'sw-1': 'failed', 'sw-2': 'failed' });
    assert.deepEqual(job.error.totals, rows.totals);
    const [nobody, first] = rows.list;
    assert.match(nobody.reason, /nobody/);
    assert.match(first.reason, /gibberish|refused/);
  });

  it('stop after so many failures; a retry goes on with the devices that were not called', async () => {
    const body = { devices: ['nobody', ...names(5, 'sw')], config: 'vlan 9', throttle: 1, stopAfterFailures: 1 };
    const { jobId, job, rows } = await ended(body);
    assert.deepEqual([job.status, rows.totals.notSent, rows.totals.sent], ['error', 6, 0]);
    const before = await attempts();
    ok(
      await service.ask('POST', `${manager}/adapters`, {
        name: 'late',
        type: 'lab',
        properties: {},
        devices: [{ name: 'nobody' }],
      }),
    );
    await jobs.move('retry', jobId);
    await jobs.inState(jobId, 'complete');
    assert.deepEqual([(await rowsOf(jobId)).totals.sent, (await attempts()) - before], [6, 6]);
  });

  it('are tried out on all, which sends nothing', async () => {
    const before = await attempts();
    const { job, rows } = await ended({ devices: ['sw-1', 'sw-2'], config: 'vlan 66', options: { dryRun: true } });
    assert.deepEqual([job.status, rows.totals.dryRun], ['complete', 2]);
    assert.match(rows.list[0].diff, /^\+vlan 66$/m);
    const first = { devices: ['sw-1', 'absent'], config: 'vlan 66', options: { dryRunFirst: true } };
    const failed = await ended(first);
    assert.match(failed.job.error.message, /Nothing was sent/);
    assert.deepEqual(statuses(failed.rows), { 'sw-1': 'notSent', absent: 'notSent' });
    assert.equal(await attempts(), before);
    const passed = await ended({ ...first, devices: ['sw-1', 'sw-2'] });
    assert.deepEqual([passed.job.status, passed.rows.totals.sent], ['complete', 2]);
  });

  it('take groups, and start once for one Idempotency-Key', async () => {
    ok(await service.ask('POST', `${manager}/devicegroup`, { name: 'Farm', devices: names(3, 'sw') }));
    const body = { devices: ['sw-4'], deviceGroups: ['Farm'], config: 'vlan 10' };
    const key = { 'Idempotency-Key': 'farm' };
    const first = ok(await change(body, service.ask, key));
    assert.deepEqual(ok(await change(body, service.ask, key)), first);
    await jobs.inState(first.jobId, 'complete');
    assert.equal((await rowsOf(first.jobId)).totals.sent, 4);
    refused(await change({ deviceGroups: ['gone'], config: 'x' }), 404);
  });

  it('are run by automations', async () => {
    const id = await jobs.automation('configuration-change', 'Nightly', {});
    const started = await jobs.start(id, { devices: ['sw-1'], config: 'vlan 11' });
    await jobs.inState(started, 'complete');
    assert.equal((await rowsOf(started)).totals.sent, 1);
    const wrong = await jobs.start(id, { devices: ['sw-1'], config: 5 });
    assert.match((await jobs.inState(wrong, 'error')).error, /config/);
  });

  it('are refused with the place, and need rights', async () => {
    for (const [body, status, words] of [
      [{ config: 'x' }, 400, /devices/],
      [{ devices: ['sw-1'] }, 400, /config/],
      [{ devices: ['sw-1'], config: '' }, 400, /config/],
      [{ devices: ['sw-1'], config: 'x', throttle: 0 }, 400, /throttle/],
      [{ devices: ['sw-1'], config: 'x', options: { dryRunFirst: 'yes' } }, 400, /dryRunFirst/],
    ] as const)
      refused(await change(body), status, words);
    refused(await change({ devices: ['sw-1'], config: 'x' }, who.reader), 403);
    refused(await service.ask('GET', `${manager}/changes/0123456789abcdef01234567`), 404);
  });

  it('reach only the devices that their starter sees', async () => {
    const { jobId } = ok(await change({ devices: ['vault-1', 'sw-1'], config: 'vlan 12' }, who.stranger));
    await jobs.inState(jobId, 'error');
    assert.deepEqual(statuses(await rowsOf(jobId)), { 'sw-1': 'sent', 'vault-1': 'notSent' });
  });
});
