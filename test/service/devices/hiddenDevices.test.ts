import assert from 'node:assert/strict';
import { runAtOnce } from '@automation-platform/concurrency';
import { builtInOf } from '../../support/builtIn.ts';
import { treeOf } from '../../support/complianceRuns.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { openStream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';
import { ours, workflow } from '../../support/workflowSamples.ts';

type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<any>;
type Row = readonly [method: string, path: string, body?: object];

const [manager, inventories, om] = ['/configuration_manager', '/inventory_manager/v1', '/operations-manager'];

/** The groups of three inventories, and the word that every name of their devices has. */
const words = { open: 'apricot', ops: 'zebra', noc: 'quartz' } as const;
type Group = keyof typeof words;
const groupsOf: Readonly<Record<Group, readonly string[]>> = { open: [], ops: ['ops'], noc: ['noc'] };

/** The ids of what was made with the devices of an inventory, or with those of all. */
type Made = {
  readonly batches: string[];
  readonly plans: string[];
  /** Jobs of changes of many devices. */
  readonly changes: string[];
  /** Jobs of workflows with the task `it`. */
  readonly tasks: string[];
  /** Jobs that name no device themselves. */
  readonly quiet: string[];
  readonly jobs: string[];
  readonly copies: string[];
  readonly reports: string[];
};

describe('Hidden devices', () => {
  const service = useService();
  const people = usePeople(service);
  const admin: Ask = (...args) => service.ask(...args);
  const jobs = builtInOf(admin);
  const callers: Record<string, { readonly ask: Ask; readonly sees: readonly Group[] }> = {};
  const made: Made = { batches: [], plans: [], changes: [], jobs: [], tasks: [], quiet: [], copies: [], reports: [] };
  let ids: Record<Group, string>;
  let tree: { readonly treeId: string; readonly version: string; readonly nodeId: string };
  let n = 0;

  const start = async (operation: string, inputs: Record<string, unknown>): Promise<string> => {
    const [app, name = ''] = operation.split('.');
    const incoming = Object.fromEntries(Object.keys(inputs).map((key) => [key, `$var.job.in_${key}`]));
    const document = workflow({ it: { ...ours(name, incoming), app } }, ['start -> it', 'it -> end']);
    const { _id } = ok(await admin('POST', `${om}/workflows`, { ...document, name: `w${++n}` })).data;
    return jobs.start(_id, Object.fromEntries(Object.entries(inputs).map(([key, value]) => [`in_${key}`, value])));
  };

  /** Everything that stores what names these devices. */
  const use = async (devices: readonly string[], inventory: string): Promise<void> => {
    const group = `Group of ${inventory}`;
    const [device = ''] = devices;
    ok(await admin('POST', `${manager}/devicegroup`, { name: group, query: { inventory } }));
    const check = async (of: object, kept: string[]): Promise<void> => {
      const options = { treeId: tree.treeId, version: tree.version, ...of };
      const { batchId, jobId } = ok(await admin('POST', `${manager}/compliance_reports`, { options }));
      made.batches.push(batchId);
      kept.push(jobId);
    };
    const copy = async (): Promise<void> => {
      const { id } = ok(await admin('POST', `${manager}/devices/backups`, { name: device }));
      made.copies.push(id);
      const treeInfo = { treeId: tree.treeId, version: tree.version };
      const { batchId, jobId } = ok(
        await admin('POST', `${manager}/compliance_reports/backups`, { treeInfo, backupIds: [id] }),
      );
      made.batches.push(batchId);
      made.quiet.push(jobId);
    };
    const copyAll = async (of: object): Promise<unknown> =>
      made.jobs.push(ok(await admin('POST', `${manager}/devices/backups`, of)).jobId);
    // Only those who may see the devices know which of the names of the plan they are.
    const plan = async (): Promise<void> => {
      const body = { name: `Plan of ${inventory.length}${n++}`, nodes: [{ ...tree, deviceGroups: [group] }] };
      const { _id: planId } = ok(await admin('POST', `${manager}/compliance_plans`, body));
      const run = ok(await admin('POST', `${manager}/compliance_plans/run`, { planId }));
      made.plans.push(planId);
      made.batches.push(run.batchId);
      made.quiet.push(run.instanceId);
    };
    const automated = async (): Promise<void> => {
      const component = { componentType: 'configuration-backup', componentName: 'devices' };
      const { _id } = ok(await admin('POST', `${om}/automations`, { name: `Copies ${n++}`, ...component })).data;
      made.jobs.push(await jobs.start(_id, { deviceGroups: [group] }));
    };
    const changeAll = async (of: object): Promise<unknown> => {
      const body = { ...of, config: 'ntp server 192.0.2.1', options: { dryRun: true } };
      return made.changes.push(ok(await admin('POST', `${manager}/changes`, body)).jobId);
    };
    const task = async (operation: string, inputs: Record<string, unknown>): Promise<unknown> =>
      made.tasks.push(await start(operation, inputs));
    const change = async (): Promise<void> => {
      const config = { config: { config: `hostname ${device}\n` } };
      ok(await admin('POST', `${manager}/devices/${device}/configuration`, config));
    };
    await Promise.all([
      check({ devices }, made.jobs),
      check({ deviceGroups: [group] }, made.quiet),
      copyAll({ devices }),
      copyAll({ deviceGroups: [group] }),
      copy(),
      changeAll({ devices }),
      changeAll({ deviceGroups: [group] }),
      plan(),
      automated(),
      change(),
      task('ConfigurationManager.getDevice', { name: device }),
      task('MOP.RunCommandTemplate', { template: 'one', devices: [device] }),
      task('ConfigurationManager.applyDeviceConfig', { device, config: `hostname ${device}` }),
      task('InventoryManager.getInventoryByIdentifier', { identifier: inventory }),
    ]);
  };

  before(async function () {
    this.timeout(900_000);
    ok(await admin('POST', '/authorization/groups', { name: 'noc', description: 'Night' }));
    const template = { name: 'one', commands: [{ command: 'show running-config', rules: [] }] };
    ok(await admin('POST', '/mop/createTemplate', { mop: template }));
    tree = await treeOf(admin, 'Golden', 'snmp-server location {{ device.name }}\n');
    const entries = await Promise.all(
      (Object.keys(words) as Group[]).map(async (group) => {
        const devices = [1, 2].map((at) => ({
          name: `${words[group]}-${at}`,
          attributes: { host: '192.0.2.7', protocol: 'lab', site: words[group] },
          tags: [words[group]],
        }));
        const body = { name: `${words[group]} inventory`, groups: groupsOf[group], devices };
        return [group, ok(await admin('POST', `${inventories}/inventories`, body)).result._id] as const;
      }),
    );
    ids = Object.fromEntries(entries) as typeof ids;
    // An event of a device starts a job that names it.
    const automation = await jobs.automation('template', 'Told', { gbac: { read: [], write: [] } });
    ok(await admin('POST', '/template_builder/templates', { name: 'Told', template: 'x' }));
    for (const [source, topic] of [
      ['@platform/configuration-manager', 'complianceReported'],
      ['@platform/configuration-manager', 'configurationBackedUp'],
      ['@platform/configuration-manager', 'deviceConfigurationApplied'],
      ['@platform/inventory-manager', 'nodesAdded'],
    ] as const)
      ok(
        await admin('POST', `${om}/triggers`, {
          name: `On ${topic}`,
          type: 'eventSystem',
          actionType: 'automations',
          actionId: automation,
          enabled: true,
          source,
          topic,
          schema: null,
          jst: null,
          legacyWrapper: true,
        }),
      );
    const { token } = ok(
      await admin('POST', '/authorization/tokens', { name: 'few', inventories: ['apricot inventory'] }),
    ).data;
    const withToken: Ask = (method, path, body, headers) =>
      service.ask(method, path, body, { ...headers, Authorization: `Bearer ${token}` }, null);
    Object.assign(callers, {
      admin: { ask: admin, sees: ['open', 'ops', 'noc'] },
      member: { ask: people.member, sees: ['open', 'ops'] },
      stranger: { ask: people.stranger, sees: ['open'] },
      reader: { ask: people.reader, sees: ['open'] },
      token: { ask: withToken, sees: ['open'] },
    });
    const synced = (text: string) => ({ source: { type: 'csv', text, mostRemoved: 100 } });
    await Promise.all(
      (Object.keys(words) as Group[]).map(async (group) => {
        const [first, second, third] = [1, 2, 3].map((at) => `${words[group]}-${at}`);
        await use([`${first}`, `${second}`], `${words[group]} inventory`);
        const text = `name,host,protocol,tags\n${first},192.0.2.7,lab,${words[group]}\n${second},192.0.2.7,lab,${words[group]}\n${third},192.0.2.7,lab,${words[group]}\n`;
        made.jobs.push(ok(await admin('POST', `${inventories}/inventories/${ids[group]}/sync`, synced(text))).jobId);
      }),
    );
    for (const id of [...made.jobs, ...made.tasks, ...made.quiet, ...made.changes]) {
      const { status, error } = await jobs.inState(id, 'complete', 'error');
      assert.equal(status, 'complete', JSON.stringify(error));
    }
    for (const batch of made.batches)
      for (const { id } of ok(await admin('GET', `${manager}/compliance_reports/batch/${batch}`)))
        made.reports.push(id);
    // Of each inventory 2 reports of 3 runs and one of a copy, 7 copies and more by changes, and a change.
    const started = () => admin('GET', `${om}/jobs?multiEquals[name]=Told&limit=1000`).then(ok);
    await until(async () => (await started()).metadata.total >= 3 * (7 + 7 + 1));
    made.jobs.push(...(await started()).data.slice(0, 12).map(({ _id }: { _id: string }) => _id));
  });

  /** Every request that names devices, or things that were made with them. Each of them names some to an admin. */
  const rows = (): { readonly lists: readonly Row[]; readonly things: readonly Row[] } => {
    const node = { treeId: tree.treeId, version: tree.version, nodePath: 'base' };
    const reports = `${manager}/compliance_reports`;
    return {
      lists: [
        ['GET', `${om}/jobs?limit=1000`],
        ['GET', `${om}/jobs?limit=1000&multiEquals[name]=Told`],
        ['POST', `${reports}/details`, { reportIds: made.reports.slice(0, 100) }],
        ['POST', `${reports}/grade`, node],
        ['POST', `${reports}/topissues`, {}],
        ['POST', `${reports}/history`, { options: { ...node, limit: 1000 } }],
        ['POST', `${manager}/backups`, { options: { limit: 1000 } }],
        ['POST', `${manager}/devices`, { options: { limit: 1000 } }],
        ['GET', `${manager}/deviceGroups?limit=1000`],
        ['GET', `${inventories}/inventories?pageSize=1000`],
        ['GET', `${inventories}/nodes?pageSize=1000`],
        ['GET', `${inventories}/tags?pageSize=1000`],
        ['GET', '/audit/events?limit=1000'],
        ...[
          'jobStarted',
          'complianceRunStarted',
          'complianceReported',
          'configurationBackedUp',
          'configurationChangeStarted',
          'configurationChangeReported',
          'deviceConfigurationApplied',
          'jobCompleted',
          'nodesAdded',
        ].map((topic): Row => ['GET', `/audit/events?limit=1000&topic=${topic}`]),
      ],
      things: [
        ...[...made.jobs, ...made.tasks].flatMap((id): Row[] => [
          ['GET', `${om}/jobs/${id}`],
          ['GET', `/audit/resources/job/${id}`],
          ['GET', `/audit/events?limit=1000&resource=job/${id}`],
        ]),
        ...made.changes.flatMap((id): Row[] => [
          ['GET', `${manager}/changes/${id}`],
          ['GET', `/audit/events?limit=1000&resource=configurationChange/${id}`],
        ]),
        ...made.tasks.map((id): Row => ['GET', `${om}/jobs/${id}/tasks/it`]),
        ...made.batches.flatMap((id): Row[] => [
          ['GET', `${reports}/batch/${id}`],
          ['GET', `${reports}/batch/${id}?limit=1`],
          ['GET', `/audit/events?limit=1000&resource=complianceBatch/${id}`],
        ]),
        ...made.reports.flatMap((id): Row[] => [
          ['GET', `${reports}/details/${id}`],
          ['POST', `${reports}/details`, { reportIds: [id] }],
          ['POST', `${reports}/grade/single`, { reportId: id }],
          ['POST', `${reports}/${id}/remediation`, {}],
          ['GET', `/audit/resources/complianceReport/${id}`],
        ]),
        ...made.copies.flatMap((id): Row[] => [
          ['GET', `${manager}/backups/${id}`],
          ['GET', `/audit/resources/configurationBackup/${id}`],
          [
            'PUT',
            `${manager}/lookup_diff`,
            { id: made.copies[0], nextId: id, collection: 'backups', nextCollection: 'backups' },
          ],
        ]),
      ],
    };
  };

  /** The words that a text has, but those that are in the request itself, and names of inventories that somebody wrote. */
  const wordsIn = (text: string, [, path, body]: Row): readonly Group[] => {
    const request = `${path}${JSON.stringify(body ?? {})}`;
    return (Object.keys(words) as Group[]).filter(
      (group) =>
        !request.includes(words[group]) &&
        text
          .replaceAll(`"query":{"inventory":"${words[group]} inventory"}`, '')
          .replaceAll(`Group of ${words[group]} inventory`, '')
          .includes(words[group]),
    );
  };

  it('are named by no answer, no event and no count for those who do not see them, now and as of earlier', async () => {
    const at = (await admin('POST', `${inventories}/inventories`, { name: 'mark' })).headers.get('x-event-position');
    const { lists, things } = rows();
    const all = [...lists, ...sampled(things, 60)];
    const leaks: string[] = [];
    const silent: string[] = [];
    const named = new Map<string, number>();
    let requests = 0;
    const judge = async (caller: string, row: Row, asOf: string): Promise<void> => {
      const { ask, sees } = callers[caller] ?? assert.fail();
      const [method, path, body] = row;
      const whole = asOf ? `${path}${path.includes('?') ? '&' : '?'}asOf=${asOf}` : path;
      const { text } = await ask(method, whole, body);
      requests++;
      const found = wordsIn(text, row);
      const title = `${caller} ${method} ${whole} ${JSON.stringify(body)}`;
      named.set(caller, (named.get(caller) ?? 0) + found.length);
      if (caller === 'admin' && found.length === 0) silent.push(`${title}: ${text.slice(0, 200)}`);
      for (const group of found) if (!sees.includes(group)) leaks.push(`${title}: ${group}`);
    };
    const past = (row: Row): boolean => !/^.audit|details|lookup|remediation/.test(row[1]);
    await runAtOnce(
      Object.keys(callers).flatMap((caller) => [
        ...all.map((row) => [caller, row, ''] as const),
        ...all
          .filter((row) => past(row) && ['member', 'stranger'].includes(caller))
          .map((row) => [caller, row, `${at}`] as const),
      ]),
      6,
      (one) => judge(...one),
    );
    assert.deepEqual(leaks, []);
    // A request that names nothing to an admin proves nothing.
    assert.deepEqual(silent, []);
    assert.ok(requests >= 5 * all.length && all.length >= 75, `${requests} of ${all.length}`);
    const numbers = ['admin', 'member', 'stranger'].map((caller) => named.get(caller) ?? 0);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => b - a),
    );
    assert.ok(new Set(numbers).size === 3 && (numbers[2] ?? 0) >= 15, `${numbers}`);
  }).timeout(900_000);

  it('stand behind ids that nobody has, for those who do not see them', async () => {
    const none = 'f'.repeat(24);
    const reports = `${manager}/compliance_reports`;
    const treeInfo = { treeId: tree.treeId, version: tree.version };
    const apricot = `${manager}/devices/${words.open}-1/configuration`;
    const byId: readonly (readonly [of: readonly string[], rows: (id: string) => readonly Row[]])[] = [
      [
        [...made.jobs, ...made.tasks, ...made.quiet, ...made.changes],
        (id) => [
          ['GET', `${om}/jobs/${id}`],
          ['GET', `${manager}/changes/${id}`],
          ['POST', `${om}/jobs/cancel`, { jobIds: [id] }],
          ['POST', `${om}/jobs/retry`, { jobIds: [id] }],
          ['POST', `${om}/jobs/watch`, { jobIds: [id] }],
          ['GET', `${om}/jobs/${id}/tasks/it`],
        ],
      ],
      [made.batches, (id) => [['GET', `${reports}/batch/${id}`]]],
      [
        made.reports,
        (id) => [
          ['GET', `${reports}/details/${id}`],
          ['POST', `${reports}/details`, { reportIds: [id] }],
          ['POST', `${reports}/grade/single`, { reportId: id }],
          ['POST', `${reports}/${id}/remediation`, {}],
        ],
      ],
      [
        made.copies,
        (id) => [
          ['GET', `${manager}/backups/${id}`],
          ['PUT', `${manager}/backups/${id}`, { notes: 'mine' }],
          ['DELETE', `${manager}/backups`, { backupIds: [id] }],
          ['POST', `${reports}/backups`, { treeInfo, backupIds: [id] }],
          ['POST', `${apricot}/rollback`, { backup: id }],
          ['POST', apricot, { config: { device: `${words.open}-1`, backup: id } }],
          [
            'PUT',
            `${manager}/lookup_diff`,
            { id, nextId: `${words.open}-1`, collection: 'backups', nextCollection: 'devices' },
          ],
        ],
      ],
    ];
    let hidden = 0;
    for (const [ofKind, rowsOf] of byId)
      for (const id of sampled(ofKind, 6)) {
        const [[, shown] = assert.fail()] = rowsOf(id);
        const [[method] = assert.fail()] = rowsOf(id);
        for (const caller of ['member', 'stranger']) {
          const { ask } = callers[caller] ?? assert.fail();
          if (
            (await ask(method, shown)).status === 200 &&
            !(shown.includes('/batch/') && (await ask(method, shown)).text === '[]')
          )
            continue;
          const unknown = rowsOf(none);
          for (const [at, row] of rowsOf(id).entries()) {
            const [answer, other] = [await ask(...row), await ask(...(unknown[at] ?? assert.fail()))];
            assert.equal(answer.status, other.status, `${caller} ${row}`);
            assert.equal(answer.text.replaceAll(id, '*'), other.text.replaceAll(none, '*'), `${caller} ${row}`);
            hidden++;
          }
        }
      }
    assert.ok(hidden >= 20, `${hidden}`);
  }).timeout(300_000);

  it('come to no stream of events', async () => {
    const mark = `mark ${n++}`;
    const streams = await Promise.all(
      (['member', 'stranger', 'reader'] as const).map(async (user) => {
        const login = { user, password: 'a long enough password' };
        return { sees: callers[user]?.sees ?? [], stream: await openStream(service.url, '?from=start', { login }) };
      }),
    );
    ok(await admin('POST', `${inventories}/inventories`, { name: mark }));
    try {
      for (const { sees, stream } of streams) {
        await until(() => JSON.stringify(stream.frames).includes(mark));
        const found = wordsIn(JSON.stringify(stream.frames), ['GET', '/']);
        assert.deepEqual(found.toSorted(), [...sees].sort());
      }
    } finally {
      for (const { stream } of streams) stream.close();
    }
  });

  it('count for each caller as many devices, runs, copies and jobs as it sees', async () => {
    const trends = async (ask: Ask): Promise<number> => {
      let sum = 0;
      for (const plan of made.plans)
        for (const { reports } of ok(await ask('GET', `${manager}/compliance_plans/${plan}/compliance-score-trend`)))
          sum += reports;
      return sum;
    };
    const { list } = ok(await admin('POST', `${manager}/backups`, { options: { limit: 1000 } }));
    for (const [caller, { ask, sees }] of Object.entries(callers)) {
      const { numDevices } = ok(await ask('GET', `${manager}/compliance_reports/tree/${tree.treeId}`));
      const runs = ok(await ask('POST', `${manager}/search/compliance_plan_instances`, {})).totalCount;
      const issues = ok(await ask('POST', `${manager}/compliance_reports/topissues`, {}));
      const copies = ok(await ask('POST', `${manager}/backups`, {})).total;
      const { totalNodes } = ok(await ask('GET', `${inventories}/stats`)).result;
      const { data, metadata } = ok(await ask('GET', `${om}/jobs?limit=1000`));
      const visible = list.filter(({ name }: { name: string }) => sees.some((group) => name.startsWith(words[group])));
      const many = sees.length;
      assert.deepEqual(
        [numDevices, runs, await trends(ask), totalNodes, issues.length],
        [2 * many, 4 * many, 2 * many, 3 * many, 2 * many],
        caller,
      );
      assert.deepEqual([copies, metadata.total], [visible.length, data.length], caller);
    }
  });
});
