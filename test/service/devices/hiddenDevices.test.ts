import assert from 'node:assert/strict';
import { builtInOf } from '../../support/builtIn.ts';
import { treeOf } from '../../support/complianceRuns.ts';
import { ok } from '../../support/people.ts';
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
  const made: Made = { batches: [], jobs: [], copies: [], reports: [] };
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
    const group = `Group of ${++n}`;
    ok(await admin('POST', `${manager}/devicegroup`, { name: group, query: { inventory } }));
    const checks = { treeId: tree.treeId, version: tree.version };
    for (const of of [{ devices }, { deviceGroups: [group] }]) {
      const checked = ok(await admin('POST', `${manager}/compliance_reports`, { options: { ...checks, ...of } }));
      made.batches.push(checked.batchId);
      made.jobs.push(checked.jobId, ok(await admin('POST', `${manager}/devices/backups`, of)).jobId);
    }
    // Only those who may see the devices know which of the names of the plan they are.
    const plan = { name: `Plan of ${n}`, nodes: [{ ...tree, deviceGroups: [group] }] };
    const { _id: planId } = ok(await admin('POST', `${manager}/compliance_plans`, plan));
    const run = ok(await admin('POST', `${manager}/compliance_plans/run`, { planId }));
    made.batches.push(run.batchId);
    made.jobs.push(run.instanceId);
    const automated = ok(
      await admin('POST', `${om}/automations`, {
        name: `Copies of ${n}`,
        componentType: 'configuration-backup',
        componentName: 'devices',
      }),
    ).data._id;
    made.jobs.push(await jobs.start(automated, { deviceGroups: [group] }));
    for (const device of devices.slice(0, 1)) {
      made.copies.push(ok(await admin('POST', `${manager}/devices/backups`, { name: device })).id);
      const config = { config: { config: `hostname ${device}\n` } };
      ok(await admin('POST', `${manager}/devices/${device}/configuration`, config));
      made.jobs.push(await start('ConfigurationManager.getDevice', { name: device }));
      made.jobs.push(await start('MOP.RunCommandTemplate', { template: 'one', devices: [device] }));
      made.jobs.push(await start('ConfigurationManager.applyDeviceConfig', { device, config: `hostname ${device}` }));
    }
    made.jobs.push(await start('InventoryManager.getInventoryByIdentifier', { identifier: inventory }));
  };

  before(async function () {
    this.timeout(900_000);
    ok(await admin('POST', '/authorization/groups', { name: 'noc', description: 'Night' }));
    const template = { name: 'one', commands: [{ command: 'show running-config', rules: [] }] };
    ok(await admin('POST', '/mop/createTemplate', { mop: template }));
    tree = await treeOf(admin, 'Golden', 'hostname {{ device.name }}\n');
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
    for (const group of Object.keys(words) as Group[]) {
      const names = [1, 2].map((at) => `${words[group]}-${at}`);
      await use(names, `${words[group]} inventory`);
      const more = { nodes: [{ name: `${words[group]}-3`, attributes: { site: words[group] } }] };
      ok(await admin('POST', `${inventories}/inventories/${ids[group]}/nodes`, more));
    }
    for (const id of made.jobs) {
      const { status, error } = await jobs.inState(id, 'complete', 'error');
      assert.equal(status, 'complete', JSON.stringify(error));
    }
    for (const batch of made.batches)
      for (const { id } of ok(await admin('GET', `${manager}/compliance_reports/batch/${batch}`)))
        made.reports.push(id);
    // 3 groups, each with 2 reports of 3 runs, 2 × 4 copies by hand and by jobs, 2 changes and a node.
    await until(async () => {
      const { metadata } = await admin('GET', `${om}/jobs?multiEquals[name]=Told&limit=1`).then(({ body }) => body);
      return metadata.total >= 3 * (6 + 1 + 1);
    });
    const told = ok(await admin('GET', `${om}/jobs?multiEquals[name]=Told&limit=1000`)).data;
    made.jobs.push(...told.slice(0, 6).map(({ _id }: { _id: string }) => _id));
  });

  /** Every request that names devices, or things that were made with them. */
  const rows = (): readonly Row[] => {
    const node = { treeId: tree.treeId, version: tree.version, nodePath: 'base' };
    const reports = `${manager}/compliance_reports`;
    return [
      ['GET', `${om}/jobs?limit=1000`],
      ['GET', `${om}/jobs?limit=1000&multiEquals[name]=Told`],
      ['GET', `${om}/tasks?limit=1000`],
      ...made.jobs.flatMap((id): Row[] => [
        ['GET', `${om}/jobs/${id}`],
        ['GET', `${om}/jobs/${id}/tasks`],
        ['GET', `${om}/jobs/${id}/tasks/it`],
        ['GET', `/audit/resources/job/${id}`],
        ['GET', `/audit/events?limit=1000&resource=job/${id}`],
      ]),
      ...made.batches.flatMap((id): Row[] => [
        ['GET', `${reports}/batch/${id}`],
        ['GET', `${reports}/batch/${id}?limit=1`],
        ['GET', `/audit/resources/complianceBatch/${id}`],
      ]),
      ...made.reports.flatMap((id): Row[] => [
        ['GET', `${reports}/details/${id}`],
        ['POST', `${reports}/details`, { reportIds: [id] }],
        ['POST', `${reports}/grade/single`, { reportId: id }],
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
      ['POST', `${reports}/details`, { reportIds: made.reports.slice(0, 100) }],
      ['POST', `${manager}/search/compliance_plan_instances`, { searchParams: { limit: 1000 } }],
      ['GET', `${reports}/tree/${node.treeId}`],
      ['GET', `${reports}/node/${node.treeId}/base`],
      ['POST', `${reports}/grade`, node],
      ['POST', `${reports}/history`, { options: { ...node, limit: 1000 } }],
      ['POST', `${reports}/topissues`, {}],
      ...Object.values(words).flatMap((word): Row[] => [
        ['POST', `${reports}/grade/history`, { ...node, deviceName: `${word}-1` }],
        ['POST', `${reports}/history`, { options: { ...node, devices: [`${word}-1`] } }],
        ['GET', `${manager}/devices/${word}-1`],
        ['GET', `${manager}/backups?device=${word}-1`],
        ['GET', `${manager}/groups/device/${word}-1`],
      ]),
      ['POST', `${manager}/backups`, { options: { limit: 1000 } }],
      ['POST', `${manager}/devices`, { options: { limit: 1000 } }],
      ['GET', `${manager}/deviceGroups?limit=1000`],
      ['POST', `${manager}/export/groups`, {}],
      ['GET', `${inventories}/nodes?pageSize=1000`],
      ['GET', `${inventories}/tags?pageSize=1000`],
      ['GET', '/audit/events?limit=1000'],
      ['GET', '/audit/events?limit=1000&topic=jobStarted'],
      ['GET', '/audit/events?limit=1000&topic=complianceRunStarted'],
      ['GET', '/audit/events?limit=1000&topic=complianceReported'],
      ['GET', '/audit/events?limit=1000&topic=deviceConfigurationApplied'],
    ];
  };

  /** The words that a text has, but those that are in the request itself, and names of inventories that somebody wrote. */
  const wordsIn = (text: string, [, path, body]: Row): readonly Group[] => {
    const request = `${path}${JSON.stringify(body ?? {})}`;
    return (Object.keys(words) as Group[]).filter(
      (group) =>
        !request.includes(words[group]) &&
        text.replaceAll(`"query":{"inventory":"${words[group]} inventory"}`, '').includes(words[group]),
    );
  };

  it('are named by no answer, no event and no count for those who do not see them, now and as of earlier', async () => {
    const at = (await admin('POST', `${inventories}/inventories`, { name: 'mark' })).headers.get('x-event-position');
    const all = rows();
    const named = new Map<string, number>();
    const leaks: string[] = [];
    for (const [caller, { ask, sees }] of Object.entries(callers))
      for (const row of all)
        for (const asOf of ['', `asOf=${at}`]) {
          const [method, path, body] = row;
          if (asOf && (/^.audit|tasks|details/.test(path) || ['admin', 'reader'].includes(caller))) continue;
          const whole = asOf ? `${path}${path.includes('?') ? '&' : '?'}${asOf}` : path;
          const { text } = await ask(method, whole, body);
          const found = wordsIn(text, row);
          named.set(caller, (named.get(caller) ?? 0) + found.length);
          for (const group of found)
            if (!sees.includes(group)) leaks.push(`${caller} ${method} ${whole} ${JSON.stringify(body)}: ${group}`);
        }
    assert.deepEqual(leaks, []);
    // The table would prove nothing if it named nothing.
    assert.ok((named.get('admin') ?? 0) > 150, `${named.get('admin')}`);
    assert.ok((named.get('member') ?? 0) > (named.get('stranger') ?? 0));
    assert.ok((named.get('stranger') ?? 0) > 30, `${named.get('stranger')}`);
  }).timeout(900_000);

  it('count for each caller as many devices, runs and copies as it sees', async () => {
    for (const [caller, { ask, sees }] of Object.entries(callers)) {
      const { numDevices } = ok(await ask('GET', `${manager}/compliance_reports/tree/${tree.treeId}`));
      const runs = ok(await ask('POST', `${manager}/search/compliance_plan_instances`, {})).totalCount;
      const copies = ok(await ask('POST', `${manager}/backups`, {})).total;
      const { list } = ok(await admin('POST', `${manager}/backups`, { options: { limit: 1000 } }));
      const visible = list.filter(({ name }: { name: string }) => sees.some((group) => name.startsWith(words[group])));
      assert.deepEqual([numDevices, runs], [2 * sees.length, 3 * sees.length], caller);
      assert.equal(copies, visible.length, caller);
    }
  });
});
