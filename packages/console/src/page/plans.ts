import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { Curve } from './curve.ts';
import { readVersion } from './edit.ts';
import { isOfTrees } from './goldenText.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { Action, descriptions, Link, type Listed, rowsIn, Section, Shown, Status, Table, Time } from './parts.ts';
import { call, may, newKeyHeader, read } from './platform.ts';
import { historyOf, idOf, type Kind, member, nameOf } from './resource.ts';
import { nodesOf, type Tree, type TreeNode } from './trees.ts';

type Plan = Operations['configuration-manager.getCompliancePlan']['answer'];
type Node = Plan['nodes'][number];
type Instance = Operations['configuration-manager.searchCompliancePlanInstances']['answer']['plans'][number];
type Day = Operations['configuration-manager.getPlanScoreTrend']['answer'][number];
type PlanProps = { readonly row: Plan };

/** Events after which what plans show is stale. */
export const isOfCompliance = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /plan|compliance|job/i.test(resource?.kind ?? '');

const Runs = ({ row: { _id: id } }: PlanProps) => {
  const loaded = useLoaded(
    () =>
      read('configuration-manager.searchCompliancePlanInstances', {
        body: { searchParams: { planId: id, limit: 25 } },
      }),
    [id],
    { when: isOfCompliance },
  );
  const run = () => call('configuration-manager.runCompliancePlan', { headers: newKeyHeader(), body: { planId: id } });
  return html`<${Section} title="Runs" tools=${html`<${Action} label="Run" kind="main" operation="configuration-manager.runCompliancePlan" does=${run} says="The plan runs." />`}>
    <${Shown} loaded=${loaded}>${({
      plans,
    }: {
      readonly plans: readonly Instance[];
    }) => html`<${Table} label="Runs" rows=${plans} keyOf=${(one: Instance) => one.id} empty="The plan has not run yet."
    columns=${[
      {
        title: 'Started',
        cell: (one: Instance) =>
          html`<${Link} to=${['compliance', id, one.batchId]}><${Time} at=${one.started} /></${Link}>`,
      },
      { title: 'Finished', cell: (one: Instance) => html`<${Time} at=${one.finished} />` },
      { title: 'Status', cell: (one: Instance) => html`<${Status} word=${one.jobStatus} />` },
      {
        title: 'Devices',
        kind: 'number',
        cell: (one: Instance) => one.nodes.reduce((sum, { processedDevices }) => sum + processedDevices, 0),
      },
      { title: 'Job', cell: (one: Instance) => html`<${Link} to=${['jobs', one.jobId]}>job</${Link}>` },
    ]} />`}</${Shown}></${Section}>`;
};

const days = 366;

const Trend = ({ row: { _id: planId } }: PlanProps) => {
  const loaded = useLoaded(
    () => read('configuration-manager.getPlanScoreTrend', { path: { planId }, query: { days } }),
    [planId],
    { when: isOfCompliance },
  );
  return html`<${Section} title="Score"><${Shown} loaded=${loaded}>${(all: readonly Day[]) =>
    all.length === 0
      ? html`<p class="empty">No device was graded within a year.</p>`
      : html`<${Curve} label="Mean score of each day" most=${100} points=${all.map(({ date, score }) => ({ date, value: score }))} />`}</${Shown}></${Section}>`;
};

const keyOf = ({ treeId, version, nodeId }: Node): string => `${treeId} ${version} ${nodeId}`;

type Choice = { readonly node: Node; readonly name: string; readonly path: string };

/** The nodes of the first hundred trees, with the devices that they have there. */
const choices = async (): Promise<readonly Choice[]> => {
  if (!may('configuration-manager.getTrees')) return [];
  const query = { limit: 100, sort: 'name' } as const;
  const { rows } = rowsIn((await read('configuration-manager.getTrees', { query })) as Listed<Tree>);
  return rows.flatMap(({ _id: treeId, name, versions }) =>
    versions.flatMap(({ name: version, root }) =>
      nodesOf(root as TreeNode).map(({ path, node: { configId: nodeId, devices = [], deviceGroups = [] } }) => ({
        node: { treeId, version, nodeId, devices, deviceGroups },
        name: `${name} ${version}: ${path}`,
        path,
      })),
    ),
  );
};

const Nodes = ({ row: { _id: planId, nodes } }: PlanProps) => {
  const loaded = useLoaded(choices, [], { when: isOfTrees });
  const [chosen, setChosen] = useState('');
  const remove =
    ({ treeId, version, nodeId }: Node) =>
    () =>
      call('configuration-manager.removeCompliancePlanNodes', {
        headers: newKeyHeader(),
        body: { planId, nodes: [{ treeId, version, nodeId }] },
      });
  return html`<${Section} title="Nodes"><${Shown} loaded=${loaded}>${(all: readonly Choice[]) => {
    const choiceOf = (node: Node) => all.find((one) => keyOf(one.node) === keyOf(node));
    const nameOfNode = (node: Node): string => choiceOf(node)?.name ?? `${node.version}: ${node.nodeId}`;
    const add = async (): Promise<void> => {
      const node = all.find((one) => keyOf(one.node) === chosen)?.node;
      if (!node) return;
      await call('configuration-manager.addCompliancePlanNodes', {
        headers: newKeyHeader(),
        body: { planId, nodes: [node] },
      });
      setChosen('');
    };
    return html`<${Table} label="Nodes" rows=${nodes} keyOf=${keyOf} empty="The plan checks nothing yet."
        columns=${[
          {
            title: 'Node',
            kind: 'wide',
            cell: (node: Node) => {
              const path = choiceOf(node)?.path;
              const to = ['compliance', 'trees', node.treeId, node.version];
              return html`<${Link} to=${path === undefined ? to : [...to, path]}>${nameOfNode(node)}</${Link}>`;
            },
          },
          {
            title: 'Devices',
            kind: 'wide',
            cell: ({ devices = [] }: Node) => devices.join(', ') || 'those of the node',
          },
          { title: 'Device groups', kind: 'number', cell: ({ deviceGroups = [] }: Node) => deviceGroups.length },
          {
            title: 'Change',
            cell: (node: Node) =>
              html`<${Action} label="Remove" about=${`Removes ${nameOfNode(node)}`} operation="configuration-manager.removeCompliancePlanNodes" does=${remove(node)} />`,
          },
        ]} />
      ${
        all.length > 0 &&
        html`<div class="tools"><label>Node to add <select onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => setChosen(currentTarget.value)}>
          <option value="" selected=${chosen === ''}>Choose a node</option>
          ${all.map(({ node, name }) => html`<option key=${keyOf(node)} value=${keyOf(node)} selected=${chosen === keyOf(node)}>${name}</option>`)}
        </select></label><${Action} label="Add" disabled=${chosen === ''} operation="configuration-manager.addCompliancePlanNodes" does=${add} /></div>
        <p class="quiet">It joins with the devices that it has in its tree now.</p>`
      }`;
  }}</${Shown}></${Section}>`;
};

const Parts = ({ row }: PlanProps) => html`<${Trend} row=${row} /><${Runs} row=${row} /><${Nodes} row=${row} />`;

const percent = (title: string) => ({ type: 'number', title, minimum: 0, maximum: 100 });

const grading = {
  type: ['object', 'null'],
  title: 'Grading',
  description: 'Empty: 2, 1 and 0.5 for the weights, pass from 90 and review from 80.',
  properties: {
    weights: {
      type: 'object',
      title: 'Weights',
      required: ['error', 'warning', 'info'],
      properties: { error: percent('Error'), warning: percent('Warning'), info: percent('Info') },
    },
    benchmarks: {
      type: 'object',
      title: 'Lowest scores',
      required: ['pass', 'review'],
      properties: { pass: percent('Pass'), review: percent('Review') },
    },
  },
};

export const plans: Kind<Plan> = {
  at: ['compliance'],
  title: 'Compliance plans',
  one: 'plan',
  empty: 'There is no compliance plan that you may read.',
  idOf,
  nameOf,
  columns: [
    { title: 'Status', cell: ({ status }) => html`<${Status} word=${status} />` },
    { title: 'Nodes', kind: 'number', cell: ({ nodes }) => nodes.length },
    descriptions,
  ],
  when: isOfCompliance,
  reads: 'configuration-manager.searchCompliancePlans',
  list: async ({ skip, limit }, filter) => {
    const body = { ...(filter && { name: filter }), options: { start: skip, limit } };
    const { plans: rows, totalCount: total } = await read('configuration-manager.searchCompliancePlans', { body });
    return { rows, total };
  },
  get: (id) => readVersion('configuration-manager.getCompliancePlan', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name'],
    properties: {
      name: member.text('Name'),
      description: member.text('Description'),
      status: member.text('Status', { enum: ['draft', 'active'] }),
      throttle: { type: 'integer', title: 'Devices read at once', minimum: 1, maximum: 50 },
      grading,
    },
  }),
  create: {
    by: 'configuration-manager.createCompliancePlan',
    does: async ({ name, ...options }, headers) =>
      (await call('configuration-manager.createCompliancePlan', { headers, body: { name, options } })).body._id,
  },
  update: {
    by: 'configuration-manager.updateCompliancePlan',
    does: (planId, options, headers) =>
      call('configuration-manager.updateCompliancePlan', { headers, body: { planId, options } }),
  },
  remove: {
    by: 'configuration-manager.deleteCompliancePlans',
    does: (id) => call('configuration-manager.deleteCompliancePlans', { body: { planIds: [id] } }),
  },
  facts: ({ _id, description, throttle, lastUpdated }) => [
    ['Description', description],
    ['At once', throttle],
    ['Changed', html`<${Time} at=${lastUpdated} />`],
    historyOf('plan', _id),
  ],
  Parts,
  prefixes: ['/options'],
};
