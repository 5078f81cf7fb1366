import { type Static, type TObject, Type } from 'typebox';
import { everybody, gbacOf } from '../authorization/gbac.ts';
import { authorsOf, type ImportAuthors } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { deletionOf } from '../engine/deletions.ts';
import { missingSecrets } from '../engine/importedSecrets.ts';
import { RequestError, refuseFaults } from '../engine/requestError.ts';
import { orNull } from '../engine/schemas.ts';
import { maskNamed, type Seal, sealImported, sealSecrets } from '../engine/secretFields.ts';
import { authors, gbac, nothing, object, text, texts, topicsOf, typed, whole } from '../engine/topics.ts';
import {
  type formerPlanNodesSchema,
  type formerPlanSchema,
  gradingSchema,
  type importedPlanSchema,
  type newPlanInput,
  type newPlanNodesSchema,
  type PlanNode,
  type PlanStatus,
  type planOptionsSchema,
  usualThrottle,
} from './planSchemas.ts';
import { findNode } from './treeNodes.ts';
import type { TreeState } from './trees.ts';

const content = {
  name: text,
  description: text,
  status: typed<PlanStatus>()(text),
  nodes: Type.Array(
    Type.Object({
      treeId: text,
      version: text,
      nodeId: text,
      variables: Type.Optional(object),
      devices: Type.Optional(texts),
      deviceGroups: Type.Optional(texts),
      tasks: Type.Optional(texts),
    }),
  ),
  gbac,
  throttle: Type.Optional(whole),
  grading: Type.Optional(orNull(gradingSchema)),
};
export type PlanContent = SchemaData<TObject<typeof content>>;

const topics = topicsOf({
  planCreated: ['A compliance plan was created', Type.Object(content)],
  planNamed: ['A compliance plan got another name', Type.Object({ name: text })],
  planDescribed: ['A compliance plan got another description', Type.Object({ description: text })],
  /** A node replaces the one with the same tree, version and nodeId, or is added at the end. */
  planNodesAdded: ['Nodes were added to a compliance plan, or replaced in it', Type.Object({ nodes: content.nodes })],
  planStatusSet: [
    'A compliance plan came into force, or became a draft again',
    Type.Object({ status: content.status }),
  ],
  planGbacSet: ['A compliance plan got other access lists', Type.Object({ gbac })],
  planNodesRemoved: [
    'Nodes were removed from a compliance plan',
    Type.Object({ nodes: Type.Array(Type.Object({ treeId: text, version: text, nodeId: text })) }),
  ],
  planThrottleSet: ['A compliance plan reads another number of devices at once', Type.Object({ throttle: whole })],
  planGradingSet: [
    'A compliance plan computes scores and grades otherwise; null: as usual',
    Type.Object({ grading: orNull(gradingSchema) }),
  ],
  planRestored: ['A compliance plan became what it was before', Type.Object({ ...content, ...authors })],
  planDeleted: ['A compliance plan was deleted', nothing],
});
export type PlanEvent = EventOf<typeof topics>;

export type PlanState = { readonly exists: boolean; readonly content: PlanContent };

const set = (state: PlanState, part: Partial<PlanContent>): PlanState => ({
  ...state,
  content: { ...state.content, ...part },
});

export const plan = aggregate<PlanState, PlanEvent>({
  area: 'configuration-manager',
  category: 'plan',
  topics,
  initial: { exists: false, content: { name: '', description: '', status: 'draft', nodes: [], gbac: everybody } },
  evolve: {
    planCreated: (_, content) => ({ exists: true, content }),
    planNamed: set,
    planDescribed: set,
    planNodesAdded: (state, { nodes }) => set(state, { nodes: withNodes(state.content.nodes, nodes) }),
    planStatusSet: set,
    planGbacSet: set,
    planNodesRemoved: (state, { nodes }) => set(state, { nodes: withoutNodes(state.content.nodes, nodes) }),
    planThrottleSet: set,
    planGradingSet: set,
    planRestored: (_, { created, createdBy, lastUpdated, lastUpdatedBy, ...content }) => ({ exists: true, content }),
    planDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists ? [{ kind: 'plan', name: content.name }] : []),
  gbac: ({ content }) => content.gbac,
});

type NodeKey = Pick<PlanNode, 'treeId' | 'version' | 'nodeId'>;

const alike = (a: NodeKey, b: NodeKey): boolean =>
  a.treeId === b.treeId && a.version === b.version && a.nodeId === b.nodeId;

/** The nodes with further ones. Each replaces its former node in place, or is added at the end. */
export const withNodes = (nodes: readonly PlanNode[], added: readonly PlanNode[]): readonly PlanNode[] => {
  let all = [...nodes];
  for (const node of added) {
    if (all.some((old) => alike(old, node))) all = all.map((old) => (alike(old, node) ? node : old));
    else all.push(node);
  }
  return all;
};

export const withoutNodes = (nodes: readonly PlanNode[], removed: readonly NodeKey[]): readonly PlanNode[] =>
  nodes.filter((node) => !removed.some((one) => alike(one, node)));

/** Seals the secrets of a node's variables; `before`: those of the node that it replaces. */
type SealVariables = (variables: unknown, before: unknown, seal: Seal, path: string) => unknown;

/**
 * Seals the secrets among the variables of the nodes. The mask keeps the secret of the node that is replaced. `path`
 * points to the nodes.
 */
export const sealNodes =
  <T extends { readonly nodes?: readonly PlanNode[] }>(path: string, sealVariables: SealVariables = sealSecrets) =>
  (input: T, { content }: PlanState, seal: Seal): T => {
    if (!input.nodes) return input;
    const nodes = input.nodes.map((node, i): PlanNode => {
      if (!node.variables) return node;
      const before = content.nodes.find((old) => alike(old, node))?.variables;
      return {
        ...node,
        variables: sealVariables(node.variables, before, seal, `${path}/${i}/variables`) as typeof node.variables,
      };
    });
    return { ...input, nodes };
  };

const sealImportedNodes = sealNodes<ImportedPlan['plan']>('/nodes', (variables, before, seal, path) =>
  sealImported(variables, [before], seal, path),
);

/** An imported plan with sealed secrets. A mask for which nothing is stored stays. */
export const sealPlan = (input: ImportedPlan, state: PlanState, seal: Seal): ImportedPlan => ({
  ...input,
  plan: sealImportedNodes(input.plan, state.exists ? state : plan.initial, seal),
});

/** The places of the masked secrets in imported nodes for which nothing is stored. `path` points to the nodes. */
export const missingInNodes = (nodes: readonly PlanNode[], present: readonly PlanNode[], path: string) =>
  nodes.flatMap((node, i) =>
    missingSecrets(present.find((one) => alike(one, node))?.variables, `${path}/${i}/variables`),
  );

/** Plans of earlier versions lack these two. */
const withNumbers = <P extends Pick<PlanContent, 'throttle' | 'grading'>>(plan: P) => ({
  ...plan,
  throttle: plan.throttle ?? usualThrottle,
  grading: plan.grading ?? null,
});

/** The plan for answers, with both names of its id: secrets among the variables are masked, even those that an earlier version stored in clear. */
export const maskPlan = <P extends Pick<PlanContent, 'nodes' | 'throttle' | 'grading'> & { readonly _id: string }>(
  plan: P,
) => ({
  id: plan._id,
  ...withNumbers(plan),
  nodes: plan.nodes.map((node) => (node.variables ? { ...node, variables: maskNamed(node.variables) } : node)),
});

export type PlanRefs = {
  /** The group names in the request that do not exist. */
  readonly unknownGroups: readonly string[];
  /** The trees that the nodes in the request name, by id. */
  readonly trees: Readonly<Record<string, TreeState>>;
};

/** Throws `not_found` with all nodes that name an unknown tree, version or node, if there are any. */
const checkNodes = (nodes: readonly PlanNode[], { trees }: PlanRefs, path: string): void => {
  const faults = nodes.flatMap(({ treeId, version, nodeId }, i) => {
    const tree = trees[treeId];
    if (!tree?.exists)
      return [{ message: `No tree has the id ${JSON.stringify(treeId)}`, path: `${path}/${i}/treeId` }];
    const found = tree.versions.find(({ name }) => name === version);
    if (!found)
      return [{ message: `Tree ${treeId} has no version ${JSON.stringify(version)}`, path: `${path}/${i}/version` }];
    if (!findNode(found.root, nodeId))
      return [
        {
          message: `Version ${JSON.stringify(version)} of tree ${treeId} has no node ${JSON.stringify(nodeId)}`,
          path: `${path}/${i}/nodeId`,
        },
      ];
    return [];
  });
  refuseFaults('not_found', faults);
};

/** Throws `invalid` for benchmarks that no score can meet in their order. */
export const refuseGrading = (grading: PlanContent['grading'], path: string): void => {
  if (grading && grading.benchmarks.pass < grading.benchmarks.review)
    throw new RequestError('invalid', 'The benchmark of pass must not be lower than that of review', {
      path: `${path}/benchmarks/pass`,
    });
};

/** Throws unless a plan with these nodes can have the status. */
const checkStatus = (status: PlanStatus, nodes: readonly PlanNode[], path: string): void => {
  if (status === 'active' && nodes.length === 0)
    throw new RequestError('conflict', 'A plan without nodes cannot be active', { path });
};

/** The content of a whole plan. Throws for nodes, groups and benchmarks that no plan may have. */
const contentOf = (
  { name, description = '', status = 'draft', nodes = [], gbac, throttle, grading }: Static<typeof newPlanInput>,
  refs: PlanRefs,
): PlanContent => {
  refuseGrading(grading, '/grading');
  const lists = gbacOf(gbac, everybody, refs.unknownGroups);
  checkNodes(nodes, refs, '/nodes');
  return { name, description, status, nodes: withNodes([], nodes), gbac: lists, ...defined({ throttle, grading }) };
};

export const create = (
  _: PlanState,
  input: Static<typeof newPlanInput>,
  { refs }: Context<PlanRefs>,
): readonly PlanEvent[] => {
  const data = contentOf(input, refs);
  checkStatus(data.status, data.nodes, '/status');
  return [{ topic: 'planCreated', data }];
};

/** Decides `updateCompliancePlan`. Only given parts change, each by its own event. */
export const update = (
  { content }: PlanState,
  options: Static<typeof planOptionsSchema>,
  { refs }: Context<PlanRefs>,
): readonly PlanEvent[] => {
  const { name = content.name, description = content.description, status = content.status, nodes = [] } = options;
  const gbac = gbacOf(options.gbac, content.gbac, refs.unknownGroups, '/options/gbac');
  checkNodes(nodes, refs, '/options/nodes');
  const after = withNodes(content.nodes, nodes);
  const news = after.filter((node) => !content.nodes.some((old) => same(old, node)));
  if (content.status === 'draft') checkStatus(status, after, '/options/status');
  const { throttle, grading } = withNumbers(content);
  const next = {
    throttle: options.throttle ?? throttle,
    grading: options.grading === undefined ? grading : options.grading,
  };
  refuseGrading(next.grading, '/options/grading');
  const events: readonly (PlanEvent | false)[] = [
    name !== content.name && { topic: 'planNamed', data: { name } },
    description !== content.description && { topic: 'planDescribed', data: { description } },
    news.length > 0 && { topic: 'planNodesAdded', data: { nodes: news } },
    status !== content.status && { topic: 'planStatusSet', data: { status } },
    !same(gbac, content.gbac) && { topic: 'planGbacSet', data: { gbac } },
    next.throttle !== throttle && { topic: 'planThrottleSet', data: { throttle: next.throttle } },
    !same(next.grading, grading) && { topic: 'planGradingSet', data: { grading: next.grading } },
  ];
  return events.filter((event) => event !== false);
};

export const addNodes = (
  { content }: PlanState,
  { nodes }: Static<typeof newPlanNodesSchema>,
  { refs }: Context<PlanRefs>,
): readonly PlanEvent[] => {
  checkNodes(nodes, refs, '/nodes');
  const news = withNodes([], nodes).filter((node) => !content.nodes.some((old) => same(old, node)));
  return news.length > 0 ? [{ topic: 'planNodesAdded', data: { nodes: news } }] : [];
};

/** Throws `not_found` with all nodes that the plan does not have. */
export const removeNodes = (
  { content }: PlanState,
  { nodes }: Static<typeof formerPlanNodesSchema>,
): readonly PlanEvent[] => {
  const keys = nodes.map(({ treeId, version, nodeId }) => ({ treeId, version, nodeId }));
  refuseFaults(
    'not_found',
    keys.flatMap((key, i) =>
      content.nodes.some((node) => alike(node, key))
        ? []
        : [{ message: 'The plan has no such node', path: `/nodes/${i}` }],
    ),
  );
  checkStatus(content.status, withoutNodes(content.nodes, keys), '/nodes');
  return [{ topic: 'planNodesRemoved', data: { nodes: keys } }];
};

/** Makes a plan what it was, also if it was deleted. It has changed now. */
export const restore = (
  { exists, content }: PlanState,
  { created, createdBy, ...former }: Static<typeof formerPlanSchema>,
  { refs, now, actor }: Context<PlanRefs>,
): readonly PlanEvent[] => {
  const restored = contentOf(former, refs);
  if (exists && same(restored, content)) return [];
  const authors = { created: created ?? now, createdBy: createdBy ?? null, lastUpdated: now, lastUpdatedBy: actor.id };
  return [{ topic: 'planRestored', data: { ...restored, ...authors } }];
};

type ImportedPlan = { readonly plan: Static<typeof importedPlanSchema>; readonly overwrite?: boolean };

/** Imports a plan, with its times and authors, into its own stream or that of the plan with the same name. */
export const importOne = (
  { exists, content }: PlanState,
  { plan, overwrite = false }: ImportedPlan,
  context: Context<PlanRefs & ImportAuthors>,
): readonly PlanEvent[] => {
  const { refs, id } = context;
  const next = withNumbers(contentOf(plan, refs));
  checkStatus(next.status, next.nodes, '/status');
  if (exists && same(next, withNumbers(content))) return [];
  if (exists && !overwrite) {
    const own = plan._id === id;
    const message = own ? 'A plan with this id exists with other content' : 'Another plan has this name';
    throw new RequestError('conflict', message, { path: own ? '/_id' : '/name' });
  }
  return [{ topic: 'planRestored', data: { ...next, ...authorsOf(plan, refs.accounts, context) } }];
};

/** Part of a decision to delete plans. */
export const remove = ({ exists }: PlanState): readonly PlanEvent[] =>
  exists ? [{ topic: 'planDeleted', data: {} }] : [];

/** The decision to delete several plans. */
export const planDeletions = deletionOf({
  area: 'configuration-manager',
  category: 'planDeletion',
  topic: 'plansDeleted',
  member: 'planIds',
  title: 'PlanDeletion',
  noun: 'compliance plan',
});
export const planDeletion = planDeletions.of;
