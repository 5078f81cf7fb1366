import { Type } from 'typebox';
import { batchOf, requestComplianceBatch } from '../../commands/configuration-manager/complianceBatches.ts';
import { startJob } from '../../commands/operations-manager/jobs.ts';
import {
  type BatchDoc,
  type Checks,
  checksSchema,
  copyChecksSchema,
} from '../../domain/configuration-manager/complianceBatches.ts';
import { reportSchema, whyNotCompared } from '../../domain/configuration-manager/complianceReports.ts';
import { inventoriesOfSources } from '../../domain/configuration-manager/deviceBackups.ts';
import { lineAt } from '../../domain/configuration-manager/treeNodes.ts';
import { versionOf } from '../../domain/configuration-manager/trees.ts';
import { objectId } from '../../domain/engine/authors.ts';
import { refuseUnknownIds } from '../../domain/engine/references.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import { complianceBatches } from '../../projections/configuration-manager/complianceBatches.ts';
import {
  complianceReports,
  type ReportDoc,
  reportIn,
} from '../../projections/configuration-manager/complianceReports.ts';
import { deviceBackups } from '../../projections/configuration-manager/deviceBackups.ts';
import { type Plan, plans } from '../../projections/configuration-manager/plans.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { documentIn, documentsOf, pageOf, readableDocuments } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import type { Where } from '../../projections/engine/port.ts';
import { jobs } from '../../projections/operations-manager/jobs.ts';
import { plain } from '../engine/envelopes.ts';
import type { Call, Join, ListEnvelope, Route } from '../engine/route.ts';
import { actionRoute, getRoute, listRoute } from '../engine/routes.ts';
import { fromStart, sortedBy } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

type Started = {
  readonly name: string;
  readonly type: string;
  readonly component: string;
  /** Id of the plan; null: none. */
  readonly plan: string | null;
  /** Groups whose members see the job; none: everybody. */
  readonly groups: readonly string[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** The inventories of the devices and copies that the variables name. */
  readonly inventories: readonly string[];
};

/** Starts the job that checks devices. */
const startChecks = async (operation: string, run: Started, call: Call, service: Service) => {
  const about = requestOf(operation, call, service);
  const id = newId(about.idempotency?.key);
  const { inventories } = run;
  const { position, replayed } = await service.handle(startJob, {
    ...about,
    id,
    input: {
      workflow: run.name,
      automation: null,
      component: { type: run.type, name: run.component },
      type: 'compliance',
      groups: run.groups,
      variables: run.variables,
      inventories,
    },
  });
  const { idempotency: _, ...same } = about;
  const batchId = batchOf(id);
  const batch = await service.handle(requestComplianceBatch, {
    ...same,
    id: batchId,
    input: { job: id, plan: run.plan, ...(inventories.length > 0 && { inventories }) },
  });
  return { id, batchId, position: Math.max(position, batch.position), replayed };
};

const devices = Type.Optional(
  Type.Array(name('Name of a device'), {
    minItems: 1,
    maxItems: 10_000,
    description: 'Only these devices of the plan',
  }),
);

const groups = Type.Optional(
  Type.Array(name('Id or name of a device group'), {
    minItems: 1,
    maxItems: 1000,
    description: 'Only the devices of the plan that these groups have',
  }),
);

const runPlan = actionRoute({
  name: 'runCompliancePlan',
  method: 'post',
  starts: true,
  path: '/compliance_plans/run',
  access: ['operators'],
  summary: 'Run a compliance plan',
  description:
    'Also a draft. A job checks the devices of its nodes, those of device groups included; instanceId is the job, and ' +
    'the batch has the reports. 409 for a plan without devices.',
  body: closed({
    planId: name('Id or name of the plan'),
    options: Type.Optional(
      closed({ devices, deviceGroups: groups }, { description: 'Which devices; all unless given' }),
    ),
  }),
  answer: Type.Object({
    message: Type.String(),
    planId: Type.String(),
    instanceId: Type.String(),
    batchId: Type.String(),
  }),
  run: async (call, service) => {
    requestOf('runCompliancePlan', call, service);
    const { planId, options = {} } = call.body;
    const plan = documentIn<Plan>(plans, await service.entry(plans, planId, call.actor));
    if (plan.nodes.every(({ devices = [], deviceGroups = [] }) => devices.length + deviceGroups.length === 0))
      throw new RequestError('conflict', 'The plan has no devices', { path: '/planId' });
    const inventories = await service.devices.seenBy(call.actor).inventoriesOf(options.devices ?? []);
    const groups = [...new Set([...plan.gbac.read, ...plan.gbac.write])];
    const of = { type: 'ucm_compliance_plans', component: plan._id, plan: plan._id };
    const run = { name: plan.name, ...of, groups, variables: options, inventories };
    const { id, batchId, position, replayed } = await startChecks('runCompliancePlan', run, call, service);
    const message = 'Successfully started compliance plan.';
    return { body: { message, planId: plan._id, instanceId: id, batchId }, position, replayed };
  },
});

const startedSchema = Type.Object({
  status: Type.Literal(202),
  message: Type.String(),
  batchId: Type.String(),
  jobId: Type.String(),
});

/** Starts checks against a node of a tree. `at`: where the request names the tree. */
const startOfTree = async (
  { operation, at, inventories }: { readonly operation: string; readonly at: string } & Pick<Started, 'inventories'>,
  options: Checks,
  call: Call,
  service: Service,
) => {
  const tree = documentIn(trees, await service.entry(trees, options.treeId, call.actor));
  const treeId = tree._id;
  const { root } = versionOf(tree, options.version, `${at}/version`);
  if (options.nodePath !== undefined) lineAt(root, options.nodePath, `${at}/nodePath`);
  const reason = whyNotCompared(tree.deviceType ?? '');
  if (reason !== undefined) throw new RequestError('conflict', reason, { path: `${at}/treeId` });
  const run = {
    name: 'Compliance checks',
    type: 'compliance-run',
    component: treeId,
    plan: null,
    groups: [],
    variables: { options: { ...options, treeId } },
    inventories,
  };
  const { id, batchId, position, replayed } = await startChecks(operation, run, call, service);
  const message = `compliance batch ${batchId} started`;
  return { body: { status: 202 as const, message, batchId, jobId: id }, position, replayed };
};

const runChecks = actionRoute({
  name: 'runComplianceChecks',
  method: 'post',
  starts: true,
  path: '/compliance_reports',
  access: ['operators'],
  summary: 'Check devices against a node of a golden configuration',
  description:
    'Without devices those of the node and of all nodes below it, each against the node that it is in. A job does it; ' +
    'the batch has the reports.',
  body: closed({ options: checksSchema }),
  answer: startedSchema,
  run: async (call, service) => {
    requestOf('runComplianceChecks', call, service);
    const { options } = call.body;
    const inventories = await service.devices.seenBy(call.actor).inventoriesOf(options.devices ?? []);
    return startOfTree({ operation: 'runComplianceChecks', at: '/options', inventories }, options, call, service);
  },
});

const checkCopies = actionRoute({
  name: 'checkDeviceBackups',
  method: 'post',
  starts: true,
  path: '/compliance_reports/backups',
  access: ['operators'],
  summary: 'Check copies of configurations against a node of a golden configuration',
  description:
    'A job does it; the batch has the reports. They are in no sums and histories, because they say nothing of the devices as ' +
    'they are now.',
  body: copyChecksSchema,
  answer: startedSchema,
  run: async (call, service) => {
    requestOf('checkDeviceBackups', call, service);
    const { treeInfo, backupIds } = call.body;
    const found = await readableDocuments(service.model, deviceBackups, backupIds, call.actor);
    const ids = new Set(found.map(({ _id }) => _id));
    refuseUnknownIds(
      backupIds.filter((id) => !ids.has(id)),
      'copy',
      '/backupIds',
    );
    const inventories = inventoriesOfSources(found.map(({ own }) => own.source));
    const of = { operation: 'checkDeviceBackups', at: '/treeInfo', inventories };
    return startOfTree(of, { ...treeInfo, backupIds }, call, service);
  },
});

const mostIssuesInList = 20;

const listedReport: Join<ReportDoc> = async (doc) => {
  const { configuration: _, issues, ...report } = reportIn(doc);
  return { ...report, issues: issues.slice(0, mostIssuesInList) };
};
const bare: ListEnvelope = (texts) => `[${texts.join(',')}]`;
const { configuration: _, ...listedProperties } = reportSchema.properties;
const listedReportSchema = Type.Object(listedProperties, {
  title: 'ListedComplianceReport',
  description: 'Report with its first 20 issues',
});

const withoutKey: Join<ReportDoc> = async (doc) => reportIn(doc);

const instanceSchema = Type.Object(
  {
    id: objectId('Id of the job'),
    jobId: objectId('Id of the job'),
    name: Type.String({ description: 'Name of the plan' }),
    description: Type.String({ description: 'Purpose of the plan' }),
    jobStatus: Type.Union([Type.Null(), Type.String()], { description: 'Status of the job; null: it is gone' }),
    planId: Type.Union([Type.Null(), Type.String()], { description: 'Id of the plan; null: the run follows none' }),
    batchId: objectId('Id of the batch'),
    started: Type.String({ description: 'When it began' }),
    finished: Type.Union([Type.Null(), Type.String()], { description: 'When it ended' }),
    nodes: Type.Array(
      Type.Object({
        treeId: Type.String(),
        nodeId: Type.String(),
        status: Type.Enum(['running', 'completed', 'canceled', 'error']),
        devices: Type.Integer(),
        processedDevices: Type.Integer(),
      }),
      { description: 'Nodes that devices are checked against' },
    ),
  },
  { title: 'CompliancePlanInstance', description: 'Run of a compliance plan' },
);

/** The runs as clients read them, with their plans, jobs and the numbers of reports. */
const instancesOf = async (batches: readonly BatchDoc[], { model, tools }: Service) => {
  const jobsOf = await documentsOf(
    model,
    jobs,
    batches.map(({ job }) => job),
  );
  const plansOf = await documentsOf(
    model,
    plans,
    batches.flatMap(({ planId }) => planId ?? []),
  );
  const processed = (batchId: string, nodeId: string): Promise<number> =>
    tools.count(complianceReports, {
      all: [
        { field: 'batchId', op: 'equals', value: batchId },
        { field: 'nodeId', op: 'equals', value: nodeId },
      ],
    });
  return Promise.all(
    batches.map(async (batch) => {
      const { job, planId, _id: batchId, started, finished } = batch;
      const jobStatus = jobsOf.find(({ _id }) => _id === job)?.status ?? null;
      const plan = plansOf.find(({ _id }) => _id === planId);
      const nodes = await Promise.all(
        batch.nodes.map(async (node) => ({
          ...node,
          processedDevices: node.status === 'completed' ? node.devices : await processed(batchId, node.nodeId),
        })),
      );
      const { name = '', description = '' } = plan ?? {};
      return { id: job, jobId: job, name, description, jobStatus, planId, batchId, started, finished, nodes };
    }),
  );
};

const instances = Type.Array(instanceSchema);

const searchInstances = actionRoute({
  name: 'searchCompliancePlanInstances',
  method: 'post',
  reads: true,
  shows: complianceBatches,
  path: '/search/compliance_plan_instances',
  access: ['operators', 'readers'],
  summary: 'Search runs of compliance plans',
  description: 'The newest come first, unless sort says otherwise.',
  body: closed({
    searchParams: Type.Optional(
      closed(
        {
          instanceId: Type.Optional(name('Id of the job')),
          planId: Type.Optional(name('Id of the plan')),
          ...fromStart,
          sort: sortedBy('started'),
        },
        { description: 'Which runs' },
      ),
    ),
  }),
  answer: Type.Object({
    totalCount: Type.Integer(),
    plans: instances,
    groups: Type.Array(Type.Object({ totalCount: Type.Integer(), plans: instances })),
  }),
  run: async ({ body: { searchParams = {} }, actor }, service) => {
    const { instanceId, planId, start: skip = 0, limit = 25, sort } = searchParams;
    const all: Where<'job' | 'planId'>[] = [];
    if (instanceId !== undefined) all.push({ field: 'job', op: 'equals', value: instanceId });
    if (planId !== undefined) all.push({ field: 'planId', op: 'equals', value: planId });
    const where = all.length > 0 ? { where: { all } } : {};
    const query = {
      sort: 'started',
      order: sort?.started ?? -1,
      skip,
      limit,
      ...where,
      ...readableBy(actor, service.model),
    } as const;
    const { entries, total } = await pageOf(service.model, complianceBatches, query);
    const found = await instancesOf(
      entries.map((entry) => documentIn(complianceBatches, entry)),
      service,
    );
    return { body: { totalCount: total, plans: found, groups: [{ totalCount: total, plans: found }] } };
  },
});

/** Runs of compliance checks, and their reports. */
export const complianceRunRoutes: readonly Route[] = [
  runPlan,
  searchInstances,
  runChecks,
  checkCopies,
  listRoute({
    name: 'getBatchReports',
    method: 'get',
    path: '/compliance_reports/batch/:batchId',
    access: ['operators', 'readers'],
    summary: 'List the reports of a batch',
    description: 'By device; each with its first 20 issues.',
    list: complianceReports,
    parent: { of: complianceBatches, param: 'batchId', field: 'batchId' },
    limit: 1000,
    join: listedReport,
    envelope: bare,
    answer: Type.Array(listedReportSchema),
  }),
  getRoute({
    name: 'getComplianceReport',
    method: 'get',
    path: '/compliance_reports/details/:id',
    access: ['operators', 'readers'],
    summary: 'Get a compliance report',
    get: complianceReports,
    key: ({ id }) => id,
    join: withoutKey,
    envelope: plain,
    answer: reportSchema,
  }),
];
