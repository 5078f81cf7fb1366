import assert from 'node:assert/strict';
import { builtInOf } from '../../support/builtIn.ts';
import {
  badAnswers,
  badShells,
  badShellsOf,
  checkKilledRun,
  controllerOf,
  goldenText,
  treeOf,
} from '../../support/complianceRuns.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { cannotKill } from '../../support/killing.ts';
import { ok, refused } from '../../support/people.ts';
import { startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';

const manager = '/configuration_manager';

describe('Runs of compliance plans', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const who = usePeople(service);
  const jobs = builtInOf((...args) => service.ask(...args));
  let campus: Awaited<ReturnType<typeof controllerOf>>;
  before(async () => {
    campus = await controllerOf(12);
    ok(await service.ask('POST', `${manager}/adapters`, campus.adapter));
  });
  after(() => campus.close());

  const planOf = async (name: string, nodes: readonly object[], more: object = {}) =>
    ok(await service.ask('POST', `${manager}/compliance_plans`, { name, nodes, ...more }))._id;
  const run = (planId: string, options?: object) =>
    service.ask('POST', `${manager}/compliance_plans/run`, { planId, ...(options && { options }) });
  const reportsOf = async (batchId: string) =>
    ok(await service.ask('GET', `${manager}/compliance_reports/batch/${batchId}`));

  it('check all devices of their nodes and groups, each once for each node, and sum up what they found', async () => {
    const node = await treeOf(service.ask, 'Campus', goldenText);
    const other = await treeOf(service.ask, 'Names', 'hostname {{ device.name }}');
    const group = { name: 'Switches', devices: campus.names };
    const { id: groupId } = ok(await service.ask('POST', `${manager}/devicegroup`, group));
    const plan = await planOf('Nightly', [
      { ...node, devices: ['sw-1', 'bad-1'], deviceGroups: [groupId, 'gone'] },
      { ...other, devices: ['sw-1', 'nobody'] },
    ]);
    campus.reads.length = 0;
    const { instanceId, batchId, planId, message } = ok(await run('Nightly'));
    assert.deepEqual([planId, message], [plan, 'Successfully started compliance plan.']);
    const { status, variables } = await jobs.inState(instanceId, 'complete', 'error');
    assert.equal(status, 'complete');
    assert.deepEqual([variables.batchId, variables.devices], [batchId, 14]);
    assert.deepEqual(variables.totals, { errors: 1, warnings: 0, infos: 0, passes: 24 });
    assert.equal(variables.grade, 'pass');
    assert.deepEqual(variables.failed.map(({ device }: { device: string }) => device).sort(), [
      'bad-1',
      'gone',
      'nobody',
    ]);
    assert.equal(campus.reads.filter((name) => name === 'sw-1').length, 1, 'a device in several nodes is read once');

    const reports = await reportsOf(batchId);
    assert.equal(reports.length, 15);
    const bad = reports.find(({ deviceName }: { deviceName: string }) => deviceName === 'sw-10');
    assert.deepEqual(
      [bad.status, bad.totals.errors, bad.issues[0].message, bad.configuration, bad.planId],
      ['complete', 1, 'Required config not found', undefined, plan],
    );
    const whole = ok(await service.ask('GET', `${manager}/compliance_reports/details/${bad.id}`));
    assert.deepEqual([whole.id, whole.batchId, whole.configuration.lines], [bad.id, batchId, 1]);
    const { totalCount, plans, groups } = ok(
      await service.ask('POST', `${manager}/search/compliance_plan_instances`, { searchParams: { planId: plan } }),
    );
    assert.deepEqual([totalCount, groups[0].plans], [1, plans]);
    assert.deepEqual(
      [plans[0].id, plans[0].jobStatus, plans[0].name, plans[0].nodes[0]],
      [
        instanceId,
        'complete',
        'Nightly',
        { treeId: node.treeId, nodeId: node.nodeId, status: 'completed', devices: 13, processedDevices: 13 },
      ],
    );
  });

  it('are limited to some devices, take the variables of their nodes, and refuse a plan without devices', async () => {
    const node = await treeOf(service.ask, 'Varied', goldenText);
    const other = await treeOf(service.ask, 'Varied too', goldenText);
    const variables = { ntp: '192.0.2.9' };
    await planOf('Varied', [{ ...node, devices: ['sw-1', 'sw-2'], variables }]);
    const { instanceId, batchId } = ok(await run('Varied', { devices: ['sw-2', 'sw-3'] }));
    // The batch is there before the run has begun.
    assert.ok(Array.isArray(await reportsOf(batchId)));
    await jobs.inState(instanceId, 'complete');
    const [report, ...others] = await reportsOf(batchId);
    assert.deepEqual([report.deviceName, report.totals.errors, others], ['sw-2', 1, []]);
    const group = { name: 'Second', devices: ['sw-2', 'sw-4'] };
    ok(await service.ask('POST', `${manager}/devicegroup`, group));
    const ofGroup = ok(await run('Varied', { deviceGroups: ['Second'] }));
    await jobs.inState(ofGroup.instanceId, 'complete');
    assert.deepEqual(
      (await reportsOf(ofGroup.batchId)).map(({ deviceName }: { deviceName: string }) => deviceName),
      ['sw-2'],
    );
    const none = ok(await run('Varied', { devices: ['sw-9'] }));
    assert.match((await jobs.inState(none.instanceId, 'error')).error, /no devices/);
    await planOf('Empty', [node]);
    refused(await run('Empty'), 409, /no devices/);
    refused(await run('Nowhere'), 404);
    const many = Array.from({ length: 5001 }, (_, i) => `many-${i}`);
    await planOf('Many', [
      { ...node, devices: many },
      { ...other, devices: many.slice(1) },
    ]);
    const tooMany = await jobs.inState(ok(await run('Many')).instanceId, 'error');
    assert.match(tooMany.error, /may check 10000 pairs of device and node; these are 10001/);
  });

  it('say which devices have changed, and count the newest report of each alone', async () => {
    const node = await treeOf(service.ask, 'Changing', goldenText);
    const planId = await planOf('Changing', [{ ...node, devices: ['sw-1', 'sw-2'] }]);
    const runOnce = async (): Promise<void> =>
      void (await jobs.inState(ok(await run(planId)).instanceId, 'complete', 'error'));
    const summary = async () => ok(await service.ask('GET', `${manager}/compliance_reports/tree/Changing`));
    await runOnce();
    assert.deepEqual([(await summary()).errors, (await summary()).numDevices], [0, 2]);
    const { treeId } = node;
    const data = { template: 'hostname sw-2\n<e/>ntp server 192.0.2.1', variables: {} };
    const change = { treeId, treeVersion: 'initial', nodePath: 'base', data, updateVariables: false };
    ok(await service.ask('PUT', `${manager}/node/config`, change));
    await runOnce();
    await runOnce();
    assert.deepEqual([(await summary()).warnings, (await summary()).numDevices], [1, 2]);
    const top = `${manager}/compliance_reports/topissues`;
    const [issue, ...others] = ok(await service.ask('POST', top, { options: { treeId } }));
    assert.deepEqual(
      [issue.specWords.map(({ value }: any) => value), issue.count, others],
      [['hostname', 'sw-2'], 1, []],
    );
    assert.ok(ok(await service.ask('POST', top, {})).some(({ id }: any) => id === issue.id));
    const changes = async () =>
      ok(await service.ask('GET', '/audit/events?topic=deviceComplianceChanged')).results.map(
        ({ data: { device, from, to, plan } }: any) => [device, from, to, plan],
      );
    await until(async () => (await changes()).length > 0);
    assert.deepEqual(await changes(), [['sw-1', 'pass', 'fail', planId]]);

    // Two runs at once agree on the order of their reports: the grade has changed back once.
    ok(await service.ask('PUT', `${manager}/node/config`, { ...change, data: { ...data, template: goldenText } }));
    await Promise.all([runOnce(), runOnce(), runOnce()]);
    const newest = async () => {
      const { results } = ok(await service.ask('GET', '/audit/events?topic=complianceReportFollowed&limit=1000'));
      const reports = ok(await service.ask('GET', '/audit/events?topic=complianceReported&limit=1000')).results;
      const followed = new Set(results.map(({ resource: { id } }: any) => id));
      return reports.filter(({ data, resource }: any) => data.planId === planId && !followed.has(resource.id)).length;
    };
    await until(async () => (await newest()) === 2);
    assert.deepEqual(await changes(), [
      ['sw-1', 'fail', 'pass', planId],
      ['sw-1', 'pass', 'fail', planId],
    ]);
    assert.deepEqual([(await summary()).warnings, (await summary()).numDevices], [0, 2]);
  });

  it('stop with their jobs: canceled or in error, and go on when these are tried again', async () => {
    const node = await treeOf(service.ask, 'Stopped', goldenText);
    const planId = await planOf('Stopped', [{ ...node, devices: ['sw-1'] }]);
    const instance = async (instanceId: string) =>
      ok(await service.ask('POST', `${manager}/search/compliance_plan_instances`, { searchParams: { instanceId } }))
        .plans[0];
    const isFinished = (id: string) => until(async () => (await instance(id)).finished !== null);
    const none = ok(await run('Stopped', { devices: ['sw-9'] }));
    await jobs.inState(none.instanceId, 'error');
    await isFinished(none.instanceId);
    assert.equal((await instance(none.instanceId)).jobStatus, 'error');

    campus.hold('sw-1');
    const { instanceId } = ok(await run(planId));
    await until(async () => (await instance(instanceId)).nodes.length === 1);
    ok(await service.ask('POST', '/operations-manager/jobs/cancel', { jobIds: [instanceId] }));
    await isFinished(instanceId);
    campus.release();
    const { jobStatus, nodes } = await instance(instanceId);
    assert.deepEqual([jobStatus, nodes[0].status], ['canceled', 'canceled']);
    assert.equal(
      ok(
        await service.ask(
          'GET',
          `/audit/events?topic=compliancePlanRan&resource=complianceBatch/${(await instance(instanceId)).batchId}`,
        ),
      ).results.length,
      0,
    );
  });

  it('are seen by those who may read the plan', async () => {
    const node = await treeOf(service.ask, 'Closed', goldenText);
    await planOf('Closed', [{ ...node, devices: ['sw-1'] }], { gbac: { write: ['ops'] } });
    const { instanceId, batchId } = ok(await run('Closed'));
    await jobs.inState(instanceId, 'complete');
    const [{ id }] = await reportsOf(batchId);
    const asReader = who.reader;
    refused(await asReader('GET', `${manager}/compliance_reports/batch/${batchId}`), 404);
    refused(await asReader('GET', `${manager}/compliance_reports/details/${id}`), 404);
    refused(await asReader('POST', `${manager}/compliance_reports/details`, { reportIds: [id] }), 404);
    refused(await asReader('POST', `${manager}/compliance_reports/grade/single`, { reportId: id }), 404);
    const ofTree = `${manager}/compliance_reports/tree/Closed`;
    assert.equal(ok(await service.ask('GET', ofTree)).numDevices, 1);
    assert.equal(ok(await asReader('GET', ofTree)).numDevices, 0);
    const base = { treeId: 'Closed', version: 'initial', nodePath: 'base' };
    assert.deepEqual(ok(await asReader('POST', `${manager}/compliance_reports/grade`, base)), []);
    const ofClosed = { options: { treeId: 'Closed' } };
    assert.deepEqual(ok(await asReader('POST', `${manager}/compliance_reports/topissues`, ofClosed)), []);
    assert.deepEqual(ok(await asReader('POST', `${manager}/compliance_reports/history`, { options: base })), []);
    const known = ok(
      await service.ask('GET', `/audit/events?topic=compliancePlanRan&resource=complianceBatch/${batchId}`),
    );
    assert.equal(known.results.length, 1);
    assert.deepEqual(ok(await asReader('GET', `/audit/events?resource=complianceBatch/${batchId}`)).results, []);
    refused(await asReader('GET', `/operations-manager/jobs/${instanceId}`), 404);
    const search = { searchParams: { instanceId } };
    const found = ok(await asReader('POST', `${manager}/search/compliance_plan_instances`, search));
    assert.equal(found.totalCount, 0);
  });

  it('start by automations once the plan is active; checks without a plan take the devices of the tree', async () => {
    const node = await treeOf(service.ask, 'Automated', goldenText);
    const plan = await planOf('Automated', [{ ...node, devices: ['sw-1'] }]);
    await jobs.automation('ucm_compliance_plans', 'Automated');
    const draft = await jobs.inState(await jobs.start('Automated'), 'error');
    assert.match(draft.error, /is a draft/);
    ok(await service.ask('PUT', `${manager}/compliance_plans`, { planId: plan, options: { status: 'active' } }));
    assert.equal((await jobs.inState(await jobs.start('Automated'), 'complete', 'error')).variables.devices, 1);
    refused(await service.ask('DELETE', `${manager}/compliance_plans`, { planIds: [plan] }), 409, /Automated/);

    const base = `${manager}/configs/Automated/initial/base`;
    ok(await service.ask('POST', base, { name: 'Ulm' }));
    ok(await service.ask('POST', `${base}/Ulm/devices`, { devices: ['sw-2', 'sw-3'] }));
    const options = { treeId: 'Automated', version: 'initial' };
    const started = ok(await service.ask('POST', `${manager}/compliance_reports`, { options }));
    assert.deepEqual([started.status, started.message], [202, `compliance batch ${started.batchId} started`]);
    await jobs.inState(started.jobId, 'complete');
    const reports = await reportsOf(started.batchId);
    assert.deepEqual(
      reports.map(({ deviceName, nodePath }: any) => [deviceName, nodePath]),
      [
        ['sw-2', 'base/Ulm'],
        ['sw-3', 'base/Ulm'],
      ],
    );
  });

  it('report an error of each device that breaks off or answers badly, and go on', async () => {
    const node = await treeOf(service.ask, 'Bad', goldenText);
    const shells = await badShellsOf();
    ok(await service.ask('POST', `${manager}/adapters`, shells.adapter));
    const bad = { ...badAnswers, ...badShells };
    const devices = [...Object.keys(bad), 'sw-1', 'sw-2'];
    await planOf('Bad', [{ ...node, devices }], { throttle: 4 });
    const { instanceId, batchId } = ok(await run('Bad'));
    const { status, variables } = await jobs.inState(instanceId, 'complete', 'error');
    assert.deepEqual([status, variables.devices, variables.totals.passes], ['complete', devices.length, 4]);
    shells.close();
    assert.equal(variables.failed.length, devices.length - 2);
    for (const { deviceName, status, reason, score, grade, totals } of await reportsOf(batchId)) {
      const [, why] = bad[deviceName] ?? [];
      if (!why) continue;
      assert.deepEqual([status, score, grade, totals.passes], ['error', null, null, 0], deviceName);
      assert.match(reason, why, deviceName);
    }
  });

  it('compare for one account in order: no device is read again because too many comparisons wait', async () => {
    const text = Array.from({ length: 4000 }, (_, n) => `{d/}vlan ${n}`).join('\n');
    const node = await treeOf(service.ask, 'Routes', text);
    const depot = await controllerOf(72);
    ok(await service.ask('POST', `${manager}/adapters`, { ...depot.adapter, name: 'depot' }));
    const devices = Array.from({ length: 60 }, (_, n) => `sw-${n + 13}`);
    const names = ['Routes 1', 'Routes 2'];
    for (const name of names) await planOf(name, [{ ...node, devices }], { throttle: 50 });
    const runs = await Promise.all(names.map(async (name) => ok(await run(name))));
    for (const { instanceId } of runs) {
      const { status, variables } = await jobs.inState(instanceId, 'complete', 'error');
      assert.deepEqual([status, variables.totals.passes], ['complete', devices.length * 4000]);
    }
    depot.close();
    assert.equal(depot.reads.length, devices.length * names.length);
  });

  it('judge by what the tree said as they began, though it is replaced meanwhile', async () => {
    const node = await treeOf(service.ask, 'Replaced', goldenText);
    await planOf('Replaced', [{ ...node, devices: ['sw-1', 'sw-2'] }], { throttle: 1 });
    campus.hold('sw-1');
    campus.reads.length = 0;
    const { instanceId, batchId } = ok(await run('Replaced'));
    await until(() => campus.reads.length > 0, 'the first device');
    const { data } = ok(await service.ask('POST', `${manager}/export/goldenconfigs`, { treeId: node.treeId }));
    const text = JSON.stringify(data).replaceAll('hostname {{ device.name }}', '<e/>hostname nobody');
    const replaced = { trees: [{ data: JSON.parse(text), overWrite: true }] };
    ok(await service.ask('POST', `${manager}/import/goldenconfigs`, replaced));
    campus.release();
    await jobs.inState(instanceId, 'complete');
    const errors = async (batch: string) =>
      (await reportsOf(batch)).map(({ status, totals }: any) => [status, totals.errors]);
    assert.deepEqual(await errors(batchId), [
      ['complete', 0],
      ['complete', 0],
    ]);
    const next = ok(await run('Replaced'));
    await jobs.inState(next.instanceId, 'complete');
    assert.deepEqual(await errors(next.batchId), [
      ['complete', 1],
      ['complete', 1],
    ]);
  });
});

describe('A change of a device, its check, and what follows', () => {
  const service = useService();
  const jobs = builtInOf((...args) => service.ask(...args));
  const om = '/operations-manager';
  const golden = '<e/>{d/}ip http server\nhostname {/.+/}\ninterface Management0\n description Management';
  const trigger = async (actionId: string, more: object) =>
    ok(
      await service.ask('POST', `${om}/triggers`, {
        ...{ name: `For ${actionId}`, enabled: true, actionType: 'automations', actionId, legacyWrapper: false },
        ...more,
      }),
    );
  const onEvent = (topic: string, schema: object | null) =>
    ({ type: 'eventSystem', source: '@platform/configuration-manager', topic, schema, jst: null }) as const;
  const jobsOf = async (name: string): Promise<any[]> =>
    ok(await service.ask('GET', `${om}/jobs?multiEquals[name]=${encodeURIComponent(name)}`)).data;
  const ended = async (name: string, count: number): Promise<any[]> => {
    await until(async () => (await jobsOf(name)).filter(({ status }) => status !== 'running').length >= count);
    return jobsOf(name);
  };
  const apply = async (config: string) =>
    ok(await service.ask('POST', `${manager}/devices/lab-03/configuration`, { config: { config } }));

  it('are one loop: event, run of a plan, event, job; a proposal that is applied ends it', async () => {
    const node = await treeOf(service.ask, 'Web servers', golden);
    const nodes = [{ ...node, devices: ['lab-01', 'lab-03'] }];
    const { _id: planId } = ok(await service.ask('POST', `${manager}/compliance_plans`, { name: 'Web', nodes }));
    ok(await service.ask('PUT', `${manager}/compliance_plans`, { planId, options: { status: 'active' } }));
    const check = await jobs.automation('ucm_compliance_plans', 'Web');
    await jobs.template('Tell', '{{ device }}: {{ from }}, {{ to }}');
    const tell = await jobs.automation('template', 'Tell');

    // By a schedule: all devices of the plan.
    await trigger(check, {
      type: 'schedule',
      name: 'Nightly',
      formId: null,
      formData: {},
      firstRunAt: Date.now() + 200,
    });
    const [nightly] = await ended('Web', 1);
    assert.deepEqual([nightly.status, nightly.variables.devices], ['complete', 2]);

    await trigger(check, onEvent('deviceConfigurationApplied', null));
    await trigger(tell, onEvent('deviceComplianceChanged', null));
    await apply('ip http server\ninterface Management0\n description Other');
    const [bad] = await ended('Tell', 1);
    assert.equal(bad.variables.renderedTemplate, 'lab-03: pass, fail');
    const checks = await ended('Web', 2);
    assert.deepEqual(checks.map(({ variables }) => variables.devices).sort(), [1, 2]);

    const history = { treeId: node.treeId, version: 'initial', nodePath: 'base', deviceName: 'lab-03' };
    const [report] = ok(await service.ask('POST', `${manager}/compliance_reports/grade/history`, history));
    const { config } = ok(await service.ask('POST', `${manager}/compliance_reports/${report.id}/remediation`));
    assert.equal(config, 'no ip http server\ninterface Management0\n description Management\n');
    await apply(config);
    const told = (await ended('Tell', 2)).map(({ variables }) => variables.renderedTemplate);
    assert.ok(told.includes('lab-03: fail, pass'));

    // A device that the plan does not have is none of its business.
    ok(await service.ask('POST', `${manager}/devices/lab-02/configuration`, { config: { config: 'vlan 9' } }));
    const all = await ended('Web', 4);
    assert.deepEqual(all.map(({ status, variables }) => [status, variables.devices]).sort(), [
      ['complete', 0],
      ['complete', 1],
      ['complete', 1],
      ['complete', 2],
    ]);
  });
});

describe('Sums, grades and histories of reports', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const jobs = builtInOf((...args) => service.ask(...args));
  let campus: Awaited<ReturnType<typeof controllerOf>>;
  let node: Awaited<ReturnType<typeof treeOf>>;
  const base = { treeId: 'Campus', version: 'initial', nodePath: 'base' };
  const reports = `${manager}/compliance_reports`;
  before(async () => {
    campus = await controllerOf(10);
    const { adapter } = campus;
    const devices = [...adapter.devices, { name: 'sw-json', ostype: 'json' }];
    ok(await service.ask('POST', `${manager}/adapters`, { ...adapter, devices }));
    const { id, root } = ok(await service.ask('POST', `${manager}/configs`, { name: 'Campus', deviceType: null }));
    node = { treeId: id, version: 'initial', nodeId: root.attributes.configId };
    const stored = {
      treeId: id,
      treeVersion: 'initial',
      nodePath: 'base',
      data: { template: goldenText, variables: {} },
    };
    ok(await service.ask('PUT', `${manager}/node/config`, { ...stored, updateVariables: false }));
  });
  after(() => campus.close());

  const grading = { weights: { error: 1, warning: 1, info: 1 }, benchmarks: { pass: 60, review: 50 } };

  it('are of the newest report of each device; one that cannot be compared never counts as compliant', async () => {
    const names = ['sw-1', 'sw-10', 'sw-json', 'bad-1'];
    const plan = { name: 'Graded', throttle: 2, grading, nodes: [{ ...node, devices: names }] };
    const { _id: planId, throttle } = ok(await service.ask('POST', `${manager}/compliance_plans`, plan));
    assert.equal(throttle, 2);
    for (const _ of [1, 2]) {
      const { instanceId } = ok(await service.ask('POST', `${manager}/compliance_plans/run`, { planId }));
      const { status, variables } = await jobs.inState(instanceId, 'complete', 'error');
      assert.deepEqual([status, variables.grade, variables.failed.length], ['complete', 'pass', 2]);
    }
    const sums = {
      ...{ errors: 1, warnings: 0, infos: 0, passes: 3, deviceWithErrors: 1, deviceWithWarnings: 0 },
      ...{ deviceWithInfos: 0, fullyCompliantDevices: 1, numDevices: 4, failedDevices: 2 },
    };
    assert.deepEqual(ok(await service.ask('GET', `${reports}/tree/Campus`)), sums);
    assert.deepEqual(ok(await service.ask('GET', `${reports}/node/Campus/base?version=initial`)), sums);
    const grades = async (options?: object): Promise<any[]> =>
      ok(await service.ask('POST', `${reports}/grade`, { ...base, ...(options && { options }) }));
    const devicesOf = (all: any[]) =>
      all.map(({ grade, records }) => [grade, records.map(({ deviceName }: any) => deviceName).sort()]);
    assert.deepEqual(devicesOf(await grades()), [
      ['pass', ['sw-1']],
      ['review', ['sw-10']],
      [null, ['bad-1', 'sw-json']],
    ]);
    const strict = { ...grading, benchmarks: { pass: 60, review: 55 } };
    assert.deepEqual(devicesOf(await grades({ grading: strict }))[1], ['fail', ['sw-10']]);
    const wrong = { ...grading, benchmarks: { pass: 50, review: 60 } };
    refused(await service.ask('POST', `${reports}/grade`, { ...base, options: { grading: wrong } }), 400, /benchmark/);

    const history = ok(await service.ask('POST', `${reports}/grade/history`, { ...base, deviceName: 'sw-10' }));
    assert.deepEqual(
      history.map(({ error, pass, score, grade }: any) => [error, pass, score, grade]),
      [
        [1, 1, 50, 'review'],
        [1, 1, 50, 'review'],
      ],
    );
    const options = { ...base, devices: ['sw-json', 'sw-1'], limit: 3 };
    assert.equal(ok(await service.ask('POST', `${reports}/history`, { options })).length, 3);
    const reportIds = history.map(({ id }: any) => id);
    const whole = ok(await service.ask('POST', `${reports}/details`, { reportIds }));
    assert.deepEqual(
      whole.map(({ id, issues }: any) => [id, issues.length]),
      reportIds.map((id: string) => [id, 1]),
    );
    refused(await service.ask('POST', `${reports}/details`, { reportIds: [...reportIds, 'none'] }), 404, /none/);
    const single = { reportId: reportIds[0], options: { grading: strict } };
    assert.equal(ok(await service.ask('POST', `${reports}/grade/single`, single)).grade, 'fail');
    const today = new Date().toISOString().slice(0, 10);
    const trend = async (path: string) => ok(await service.ask('GET', `${manager}/${path}`));
    const ofDevice = [{ date: today, score: 50, reports: 2 }];
    assert.deepEqual(await trend('compliance_reports/score_trend/sw-10'), ofDevice);
    assert.deepEqual(await trend(`compliance_reports/score_trend/sw-10?days=30&planIds=${planId}`), ofDevice);
    assert.deepEqual(await trend('compliance_reports/score_trend/sw-10?planIds=none'), []);
    assert.deepEqual(await trend(`compliance_plans/Graded/compliance-score-trend`), [
      { date: today, score: 75, reports: 4 },
    ]);
    const mended = ok(await service.ask('POST', `${reports}/${history[0].id}/remediation`));
    assert.deepEqual([mended.config, mended.byHand], ['ntp server 192.0.2.1\n', []]);
    const failed = (await grades()).find(({ grade }) => grade === null).records[0].reportId;
    refused(await service.ask('POST', `${reports}/${failed}/remediation`), 409, /not compared/);

    const json = { ...base, devices: ['sw-json'] };
    const { jobId, batchId } = ok(await service.ask('POST', reports, { options: json }));
    await jobs.inState(jobId, 'complete');
    const [{ status, reason }] = ok(await service.ask('GET', `${reports}/batch/${batchId}`));
    assert.deepEqual([status, /json/.test(reason)], ['error', true]);
  });

  it('are not of copies, which are checked like devices, each for itself', async () => {
    const copies: string[] = [];
    for (const name of ['sw-10', 'sw-1', 'sw-10'])
      copies.push(ok(await service.ask('POST', `${manager}/devices/backups`, { name })).id);
    const before = ok(await service.ask('GET', `${reports}/tree/Campus`));
    const { version, nodePath } = base;
    const treeInfo = { treeId: 'Campus', version, nodePath };
    const { jobId, batchId } = ok(await service.ask('POST', `${reports}/backups`, { treeInfo, backupIds: copies }));
    const { status, variables } = await jobs.inState(jobId, 'complete', 'error');
    assert.deepEqual([status, variables.devices, variables.totals.errors], ['complete', 3, 2]);
    const checked = ok(await service.ask('GET', `${reports}/batch/${batchId}`));
    assert.deepEqual(checked.map(({ backupId }: any) => backupId).sort(), copies.toSorted());
    assert.deepEqual(ok(await service.ask('GET', `${reports}/tree/Campus`)), before);
    const unknown = { treeInfo, backupIds: [copies[0], 'f'.repeat(24)] };
    refused(await service.ask('POST', `${reports}/backups`, unknown), 404, /ffff/);
  });

  it('change with the grading of a plan, and its nodes go, but not the last ones of an active plan', async () => {
    const plan = ok(await service.ask('POST', `${manager}/compliance_plans`, { name: 'Changed' }));
    const planId = plan._id;
    const put = async (options: object) => service.ask('PUT', `${manager}/compliance_plans`, { planId, options });
    const now = async () => ok(await service.ask('GET', `${manager}/compliance_plans/${planId}`));
    assert.deepEqual([plan.throttle, plan.grading], [5, null]);
    ok(await put({ throttle: 50, grading }));
    assert.deepEqual([(await now()).throttle, (await now()).grading], [50, grading]);
    refused(await put({ throttle: 51 }), 400);
    refused(await put({ grading: { ...grading, benchmarks: { pass: 1, review: 2 } } }), 400, /benchmark/);
    ok(await put({ grading: null }));
    assert.equal((await now()).grading, null);
    const nodes = `${manager}/compliance_plans/nodes`;
    const added = { planId, nodes: [{ ...node, devices: ['sw-1'] }] };
    assert.deepEqual(ok(await service.ask('POST', nodes, added)).nodes, added.nodes);
    ok(await put({ status: 'active' }));
    refused(await service.ask('DELETE', nodes, { planId, nodes: [node] }), 409, /active/);
    ok(await put({ status: 'draft' }));
    refused(await service.ask('DELETE', nodes, { planId, nodes: [node, { ...node, version: 'x' }] }), 404);
    assert.deepEqual(ok(await service.ask('DELETE', nodes, { planId, nodes: [node] })).nodes, []);
  });
});

describe(`A run of a compliance plan, killed in its middle${cannotKill}`, function () {
  this.timeout(120_000);

  const runKilled = async (devices: number, kills: number): Promise<void> => {
    const folder = temporaryFolder();
    const settings = { OUTBOUND_ALLOW: '127.0.0.1' };
    let server = await startServer(folder, settings);
    try {
      const kill = async (): Promise<void> => {
        server.child.kill('SIGKILL');
        await server.ended;
        server = await startServer(folder, settings);
      };
      await checkKilledRun({ devices, kills, kill, ask: (...args) => server.ask(...args) });
      await server.stop();
    } finally {
      server.child.kill('SIGKILL');
    }
  };

  it('goes on after the next start: each pair has one report, and nothing is counted twice', async function () {
    if (cannotKill) this.skip();
    await runKilled(40, 1);
  });

  itInSoak('goes on after ten kills', async function () {
    if (cannotKill) this.skip();
    this.timeout(900_000);
    await runKilled(200, 10);
  });
});
