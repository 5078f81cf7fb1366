import { provisionAccount } from '../../../src/commands/authorization/accounts.ts';
import { createProvider } from '../../../src/commands/authorization/providers.ts';
import { migrateAgendaJobs } from '../../../src/commands/automation-catalog/scheduledJobMigrations.ts';
import { createScheduledJob } from '../../../src/commands/automation-catalog/scheduledJobs.ts';
import { deleteProject, importProject } from '../../../src/commands/automation-studio/projects.ts';
import {
  createDeviceGroup,
  deleteDeviceGroups,
  importDeviceGroups,
} from '../../../src/commands/configuration-manager/deviceGroups.ts';
import type { Tools } from '../../../src/commands/engine/define.ts';
import { createInventory, syncInventoryNodes } from '../../../src/commands/inventory-manager/inventories.ts';
import { runAction } from '../../../src/commands/lifecycle-manager/actionExecutions.ts';
import { createResourceModel } from '../../../src/commands/lifecycle-manager/resourceModels.ts';
import { completeJob, startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { workflowCommands } from '../../../src/commands/operations-manager/workflows.ts';
import { importPrebuilt, prebuiltId } from '../../../src/commands/prebuilts/prebuilts.ts';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import { siteSurvey } from '../../../src/demo/projects.ts';
import { account } from '../../../src/domain/authorization/accounts.ts';
import { scheduledJobMigration } from '../../../src/domain/automation-catalog/scheduledJobMigrations.ts';
import { project } from '../../../src/domain/automation-studio/projects.ts';
import { deviceGroupImport } from '../../../src/domain/configuration-manager/deviceGroupImports.ts';
import { deviceGroupDeletions } from '../../../src/domain/configuration-manager/deviceGroups.ts';
import type { Aggregate } from '../../../src/domain/engine/core.ts';
import { entriesIn } from '../../../src/domain/engine/layeredMap.ts';
import { type InventoryState, inventory } from '../../../src/domain/inventory-manager/inventories.ts';
import { actionExecution } from '../../../src/domain/lifecycle-manager/actionExecutions.ts';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import { prebuilt } from '../../../src/domain/prebuilts/prebuilts.ts';
import { accounts, externalIds, externalKey } from '../../../src/projections/authorization/accounts.ts';
import { scheduledJobs } from '../../../src/projections/automation-catalog/scheduledJobs.ts';
import { deviceGroups } from '../../../src/projections/configuration-manager/deviceGroups.ts';
import { trees } from '../../../src/projections/configuration-manager/trees.ts';
import type { Collection } from '../../../src/projections/engine/define.ts';
import { forms } from '../../../src/projections/json-forms/forms.ts';
import { resourceInstances } from '../../../src/projections/lifecycle-manager/resourceInstances.ts';
import { analyticTemplates } from '../../../src/projections/mop/analyticTemplates.ts';
import { commandTemplates } from '../../../src/projections/mop/commandTemplates.ts';
import { automations } from '../../../src/projections/operations-manager/automations.ts';
import { triggers } from '../../../src/projections/operations-manager/triggers.ts';
import { workflows } from '../../../src/projections/operations-manager/workflows.ts';
import { templates } from '../../../src/projections/template-builder/templates.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { context } from '../given.ts';
import { eventsIn } from '../logged.ts';
import type { TestNode } from '../node.ts';
import { outcomeOf } from '../scheduleOutcome.ts';
import { type Clocks, plannersOn, schedulesOn, second } from '../scheduling.ts';
import { expectedOf, peopleOn, sortedOutcome, triggersOn, twentyTriggers } from '../triggering.ts';
import { until } from '../until.ts';
import { ours, workflow } from '../workflowSamples.ts';
import { outcome } from '../writer.ts';
import { deviceWorks } from './deviceWorks.ts';

/** A node, the log as it sees it, and the clocks of its machine. */
export type Place = { readonly node: TestNode; readonly store: EventStore; readonly clocks: Clocks };

/** Something that a node makes durable in several steps. */
export type Work = {
  readonly name: string;
  /** Makes what is there before. */
  readonly prepare?: (place: Place) => Promise<unknown>;
  /** Starts what the node runs beside reactions; the result ends it. */
  readonly start?: (place: Place) => Promise<() => Promise<unknown>>;
  /** Does the work. Once more, it changes nothing. */
  readonly run: (place: Place, attempt: number) => Promise<unknown>;
  /** True once the log says that all of it has to happen. */
  readonly isDecided: (place: Place) => Promise<boolean>;
  /** The part of it that the read models show. */
  readonly find: (place: Place) => Promise<unknown>;
  /** The result of `find` while nothing is decided; undefined: that depends on the step. */
  readonly nothing?: unknown;
  /** The result of `find` at the end. */
  readonly whole: (place: Place) => Promise<unknown>;
};

const exists =
  <S>(aggregate: Aggregate<S>, id: string) =>
  async ({ node: { tools } }: Place): Promise<boolean> =>
    aggregate.exists(await tools.state(aggregate, id));

const namesIn = async <Doc extends { readonly name: string }>(
  { query }: Tools,
  collection: Collection<Doc>,
): Promise<readonly string[]> => (await query(collection)).map(({ name }) => `${collection.collection}: ${name}`);

const groups = ['Bonn', 'Köln', 'Trier'].map((name) => ({ name, devices: [`${name}-1`] }));

/** The names of components by collection, and whether all parts are carried out. */
const unpacked = async ({ node: { tools } }: Place) => {
  const { exists, pending } = await tools.state(project, siteSurvey._id);
  const names = await Promise.all([namesIn(tools, forms), namesIn(tools, commandTemplates), namesIn(tools, workflows)]);
  return { exists, isComplete: pending === undefined, names: names.flat() };
};
const components = ['forms: Which site', 'commandTemplates: Uplinks', 'workflows: Survey'].map((name) =>
  name.replace(': ', `: @${siteSurvey._id}: `),
);

const importOfProject: Work = {
  name: 'the import of a project',
  run: ({ node }) => node.command(importProject, siteSurvey._id, { project: siteSurvey }),
  isDecided: exists(project, siteSurvey._id),
  find: unpacked,
  nothing: { exists: false, isComplete: true, names: [] },
  whole: async () => ({ exists: true, isComplete: true, names: components }),
};

const deletionOfProject: Work = {
  name: 'the deletion of a project',
  prepare: async (place) => {
    await importOfProject.run(place, 0);
    await until(async () => (await unpacked(place)).isComplete, 'the project is unpacked');
  },
  run: async ({ node }) => {
    if ((await node.tools.state(project, siteSurvey._id)).exists)
      await node.command(deleteProject, siteSurvey._id, { components: 'delete' });
  },
  isDecided: async (place) => !(await exists(project, siteSurvey._id)(place)),
  find: unpacked,
  nothing: { exists: true, isComplete: true, names: components },
  whole: async () => ({ exists: false, isComplete: true, names: [] }),
};

const importOfGroups: Work = {
  name: 'an import of device groups',
  run: ({ node }, attempt) => node.command(importDeviceGroups, `i${attempt}`, { groups }),
  isDecided: exists(deviceGroupImport, 'i1'),
  find: ({ node }) => namesIn(node.tools, deviceGroups),
  nothing: [],
  whole: async () => groups.map(({ name }) => `deviceGroups: ${name}`),
};

const deletionOfGroups: Work = {
  name: 'the deletion of device groups',
  prepare: async ({ node }) => {
    for (const group of groups) await node.command(createDeviceGroup, group.devices[0] ?? '', group);
  },
  run: async ({ node }, attempt) => {
    if ((await namesIn(node.tools, deviceGroups)).length < groups.length) return;
    await node.command(deleteDeviceGroups, `d${attempt}`, { groupIds: groups.flatMap(({ devices }) => devices) });
  },
  isDecided: exists(deviceGroupDeletions.of, 'd1'),
  find: ({ node }) => namesIn(node.tools, deviceGroups),
  nothing: groups.map(({ name }) => `deviceGroups: ${name}`),
  whole: async () => [],
};

/** A package with documents of all kinds, and with a project. */
const packageWithProject = {
  ...vlanRollout,
  bundles: [...vlanRollout.bundles, { type: 'project', data: siteSurvey }],
};

const installOfPackage: Work = {
  name: 'the install of a package',
  run: ({ node }) =>
    node.command(importPrebuilt, prebuiltId(vlanRollout.metadata.name), {
      prebuilt: packageWithProject,
      overwrite: false,
      strict: true,
    }),
  isDecided: exists(prebuilt, prebuiltId(vlanRollout.metadata.name)),
  find: async ({ node: { tools } }) => {
    const { imported, pending } = await tools.state(prebuilt, prebuiltId(vlanRollout.metadata.name));
    const survey = await tools.state(project, siteSurvey._id);
    const names = await Promise.all([
      namesIn(tools, forms),
      namesIn(tools, templates),
      namesIn(tools, commandTemplates),
      namesIn(tools, analyticTemplates),
      namesIn(tools, trees),
      namesIn(tools, automations),
      namesIn(tools, triggers),
    ]);
    const isInstalled = imported !== undefined && !pending && survey.exists && !survey.pending;
    return { isInstalled, names: names.flat() };
  },
  nothing: { isInstalled: false, names: [] },
  whole: async () => ({
    isInstalled: true,
    names: [
      `forms: @${siteSurvey._id}: Which site`,
      'forms: VLAN rollout approval',
      'forms: VLAN rollout request',
      'templates: VLAN on an access switch',
      `commandTemplates: @${siteSurvey._id}: Uplinks`,
      'commandTemplates: VLAN is there',
      'analyticTemplates: VLANs before and after',
      'trees: Campus access switches',
      'automations: VLAN rollout',
      'triggers: Roll out by hand',
      'triggers: Roll out from the ticket system',
    ],
  }),
};

const agendaJob = 'a'.repeat(24);

const migrationOfJob: Work = {
  name: 'the migration of a scheduled job',
  prepare: ({ node }) =>
    node.command(createScheduledJob, agendaJob, {
      name: 'Audit',
      repeatInterval: '1 day',
      data: { workflowId: 'Audit' },
    }),
  run: ({ node }, attempt) => node.command(migrateAgendaJobs, `m${attempt}`, { agendaJobs: [agendaJob] }),
  isDecided: exists(scheduledJobMigration, 'm1'),
  find: async ({ node: { tools } }) => {
    const [made, began, [kept]] = await Promise.all([
      tools.query(automations),
      tools.query(triggers),
      tools.query(scheduledJobs),
    ]);
    return {
      automations: made.map(({ name }) => name),
      triggers: began.map(({ type }) => type as string).sort(),
      isMigrated: kept?.migrated === true,
    };
  },
  nothing: { automations: [], triggers: [], isMigrated: false },
  whole: async () => ({ automations: ['Audit'], triggers: ['manual', 'schedule'], isMigrated: true }),
};

const [modelId, execution] = ['d', 'e'].map((letter) => letter.repeat(24)) as [string, string];

const actionOfModel: Work = {
  name: 'an action of a resource model whose job completes',
  prepare: ({ node }) =>
    node.command(createResourceModel, modelId, {
      name: 'VLAN',
      schema: {},
      actions: [{ _id: '00af', name: 'Deploy', type: 'create', workflow: 'Deploy' }],
    }),
  run: async ({ node }) => {
    const input = { modelId, actionId: '00af', instanceName: 'new', inputs: { vlan: 5 } };
    await node.command(runAction, execution, input, { idempotency: { key: 'run', request: '' } });
    const [task] = (await node.tools.state(actionExecution, execution)).tasks;
    if (!task) throw new Error('The action has no job');
    const more = { idempotency: { key: 'done', request: '' } };
    await node.command(completeJob, task._id, { variables: { done: true } }, more);
  },
  // The job completes when a worker says so: until then nothing more follows by itself.
  isDecided: async ({ node: { tools } }) => {
    const { started, tasks } = await tools.state(actionExecution, execution);
    return started !== undefined && tasks.every(({ status }) => status === 'complete');
  },
  find: async ({ node: { tools } }) => ({
    status: (await tools.state(actionExecution, execution)).status,
    instances: (await tools.query(resourceInstances, { field: 'modelId', op: 'equals', value: modelId })).map(
      ({ name, instanceData }) => ({ name, instanceData }),
    ),
  }),
  whole: async () => ({ status: 'complete', instances: [{ name: 'new', instanceData: { vlan: 5 } }] }),
};

const parentJob = 'a'.repeat(24);

const childrenOfJob: Work = {
  name: 'a job with children',
  prepare: async ({ node }) => {
    // Children begin with the rights of the account that started the job.
    await node.account('runner');
    const part = workflow({ set: ours('newVariable', { name: 'n', value: 1 }) }, ['start -> set', 'set -> end']);
    await node.command(workflowCommands.create, 'part', { ...part, name: 'Part' });
    const list = { workflow: 'Part', loopType: 'parallel', data_array: [{}, {}, {}], variables: {} };
    const one = { workflow: 'Part', variables: {} };
    const whole = { list: ours('childJob', list), one: ours('childJob', one) };
    const edges = ['start -> list', 'list -> one', 'one -> end'];
    await node.command(workflowCommands.create, 'whole', { ...workflow(whole, edges), name: 'Whole' });
    await node.catchUp();
  },
  run: async ({ node }) => {
    const there = job.exists(await node.tools.state(job, parentJob));
    const actor = { ...context.actor, id: 'runner', username: 'runner' };
    if (!there) await node.command(startJob, parentJob, { workflow: 'Whole' }, { actor });
  },
  isDecided: exists(job, parentJob),
  find: async ({ node: { tools }, store }) => {
    const starts = (await eventsIn(store)).filter(({ topic }) => topic === 'jobStarted');
    return { status: (await tools.state(job, parentJob)).status, jobs: starts.length };
  },
  nothing: { status: undefined, jobs: 0 },
  whole: async () => ({ status: 'complete', jobs: 5 }),
};

const runners = ['runner'];

const jobsOfEvents: Work = {
  name: 'the jobs of twenty event triggers',
  prepare: async ({ node, store }) => {
    const people = peopleOn(node);
    await node.bootstrap();
    await node.account('runner', { memberOf: ['operators', 'readers'] });
    await people.automation('a');
    for (const { id, more, account } of twentyTriggers)
      await people.trigger(id, more, account === undefined ? {} : { id: account });
    await triggersOn(node, store).prepare(false);
  },
  start: async ({ node, store }) => {
    const running = triggersOn(node, store);
    running.start();
    return running.stop;
  },
  run: async ({ node }) => {
    for (let n = 0; n < 3; n++) await outcome(peopleOn(node).publish(`p${n}`, { n }));
  },
  isDecided: async () => true,
  find: async ({ store }) => sortedOutcome(await eventsIn(store)),
  whole: async ({ store }) => expectedOf(await eventsIn(store), runners),
};

/** When the clocks of a scene begin. */
export const monday = Date.UTC(2026, 0, 5);

const instants: Readonly<Record<string, number>> = { s1: 10 * second, s2: 20 * second, s3: 25 * second };

const jobsOfSchedules: Work = {
  name: 'the jobs of three schedules',
  prepare: async ({ node, clocks }) => {
    const planners = plannersOn(node);
    await planners.automation('a');
    for (const [id, after] of Object.entries(instants))
      await planners.schedule(id, { firstRunAt: clocks.now() + after, processMissedRuns: 'last' });
  },
  start: async ({ node, store, clocks }) => {
    const running = schedulesOn(node, store, clocks);
    node.subscribe({ categories: running.categories, onShown: running.onEvent });
    await running.prepare();
    running.start();
    return running.stop;
  },
  run: async ({ clocks }) => clocks.pass(30 * second),
  // A node may die while it starts: then the time has not come.
  isDecided: async ({ clocks }) => clocks.now() >= monday + 30 * second,
  find: async ({ store, clocks }) => {
    clocks.pass(0);
    const events = await eventsIn(store);
    return Object.keys(instants).map((id) => {
      const { decided, jobs } = outcomeOf(events, id);
      return { decided: decided.map(({ topic }) => topic), jobs: jobs.length };
    });
  },
  whole: async () => Object.keys(instants).map(() => ({ decided: ['scheduleFired'], jobs: 1 })),
};

const kept = ['core-1', 'core-2'];
/** Three events of 1,000 nodes at most. */
const nodesOfSource = Array.from({ length: 2300 }, (_, n) => ({ name: `n${n}`, tags: ['new'] }));
const nodesIn = ({ nodes }: InventoryState) => [...entriesIn(nodes).keys()];

const syncOfInventory: Work = {
  name: 'the sync of an inventory',
  prepare: ({ node }) =>
    node.command(createInventory, 'v1', { name: 'Campus', devices: kept.map((name) => ({ name })) }),
  run: ({ node }) => node.command(syncInventoryNodes, 'v1', { nodes: nodesOfSource, mostRemoved: 100 }),
  isDecided: async (place) => (await syncOfInventory.find(place)) !== syncOfInventory.nothing,
  find: async ({ node: { tools } }) => {
    const names = nodesIn(await tools.state(inventory, 'v1'));
    return `${names.length} ${names[0]}`;
  },
  nothing: '2 core-1',
  whole: async () => '2300 n0',
};

const anna = {
  ...{ provenance: 'corp', username: 'anna', externalId: 'id of anna' },
  ...{ externalGroups: ['noc'], firstname: 'Anna', email: '' },
};
const annasKey = externalKey(anna.provenance, anna.externalId);

/** The account, and the name that keeps its person from a second one. */
const firstLogin: Work = {
  name: 'the first login of a person',
  prepare: async ({ node }) => {
    await node.bootstrap();
    const properties = { urls: ['ldaps://directory.example.net'], userBase: 'dc=example' };
    await node.command(createProvider, 'corp', { name: 'corp', type: 'ldap', properties });
  },
  run: ({ node }) => node.command(provisionAccount, 'anna', anna),
  isDecided: exists(account, 'anna'),
  find: async ({ node: { tools, model } }) => ({
    accounts: (await tools.query(accounts, { field: 'username', op: 'equals', value: 'anna' })).map(({ _id }) => _id),
    named: await model.idsNamed(externalIds.collection, annasKey),
  }),
  nothing: { accounts: [], named: [] },
  whole: async () => ({ accounts: ['anna'], named: ['anna'] }),
};

export const works: readonly Work[] = [
  importOfGroups,
  syncOfInventory,
  deletionOfGroups,
  installOfPackage,
  importOfProject,
  deletionOfProject,
  migrationOfJob,
  actionOfModel,
  childrenOfJob,
  jobsOfEvents,
  jobsOfSchedules,
  firstLogin,
  ...deviceWorks,
];
