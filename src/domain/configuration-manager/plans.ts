import { type Static, type TObject, Type } from 'typebox';
import { everybody, gbacOf } from '../authorization/gbac.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { RequestError, refuseFaults } from '../engine/requestError.ts';
import { maskNamed, type Seal, sealSecrets } from '../engine/secretFields.ts';
import { authors, gbac, nothing, object, text, texts, topicsOf, typed } from '../engine/topics.ts';
import type { formerPlanSchema, newPlanSchema, PlanNode, PlanStatus, planOptionsSchema } from './planSchemas.ts';
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
    planRestored: (_, { name, description, status, nodes, gbac }) => ({
      exists: true,
      content: { name, description, status, nodes, gbac },
    }),
    planDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists ? [{ kind: 'plan', name: content.name }] : []),
  gbac: ({ content }) => content.gbac,
});

const alike = (a: PlanNode, b: PlanNode): boolean =>
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

/**
 * Seals the secrets among the variables of the nodes. The mask keeps the secret of the node that is replaced. `path`
 * points to the nodes.
 */
export const sealNodes =
  <T extends { readonly nodes?: readonly PlanNode[] }>(path: string) =>
  (given: T, { content }: PlanState, seal: Seal): T => {
    if (!given.nodes) return given;
    const nodes = given.nodes.map((node, i): PlanNode => {
      if (!node.variables) return node;
      const before = content.nodes.find((old) => alike(old, node))?.variables;
      return {
        ...node,
        variables: sealSecrets(node.variables, before, seal, `${path}/${i}/variables`) as typeof node.variables,
      };
    });
    return { ...given, nodes };
  };

/** The plan for answers: secrets among the variables are masked, even those that an earlier version stored in clear. */
export const maskPlan = <P extends Pick<PlanContent, 'nodes'>>(plan: P): P => ({
  ...plan,
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

export const create = (
  _: PlanState,
  { name, description = '', nodes = [], gbac }: Static<typeof newPlanSchema>,
  { refs }: Context<PlanRefs>,
): readonly PlanEvent[] => {
  const lists = gbacOf(gbac, everybody, refs.unknownGroups);
  checkNodes(nodes, refs, '/nodes');
  return [
    { topic: 'planCreated', data: { name, description, status: 'draft', nodes: withNodes([], nodes), gbac: lists } },
  ];
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
  if (status === 'active' && content.status === 'draft' && after.length === 0)
    throw new RequestError('conflict', 'A plan without nodes cannot be active', { path: '/options/status' });
  const events: readonly (PlanEvent | false)[] = [
    name !== content.name && { topic: 'planNamed', data: { name } },
    description !== content.description && { topic: 'planDescribed', data: { description } },
    news.length > 0 && { topic: 'planNodesAdded', data: { nodes: news } },
    status !== content.status && { topic: 'planStatusSet', data: { status } },
    !same(gbac, content.gbac) && { topic: 'planGbacSet', data: { gbac } },
  ];
  return events.filter((event) => event !== false);
};

/** Makes a plan what it was, also if it was deleted. It has changed now. */
export const restore = (
  { exists, content }: PlanState,
  { created, createdBy, nodes = [], description = '', ...former }: Static<typeof formerPlanSchema>,
  { refs, now, actor }: Context<PlanRefs>,
): readonly PlanEvent[] => {
  const gbac = gbacOf(former.gbac, everybody, refs.unknownGroups);
  checkNodes(nodes, refs, '/nodes');
  const restored = { name: former.name, description, status: former.status, nodes: withNodes([], nodes), gbac };
  if (exists && same(restored, content)) return [];
  const authors = { created: created ?? now, createdBy: createdBy ?? null, lastUpdated: now, lastUpdatedBy: actor.id };
  return [{ topic: 'planRestored', data: { ...restored, ...authors } }];
};

/** Part of a decision to delete plans. */
export const remove = ({ exists }: PlanState): readonly PlanEvent[] =>
  exists ? [{ topic: 'planDeleted', data: {} }] : [];
