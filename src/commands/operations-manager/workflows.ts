import { compileUserSchema, linearPattern, SchemaError, type SchemaFault } from '@automation-platform/bounded-schemas';
import { oneByOne } from '@automation-platform/concurrency';
import { type Members, plainValue } from '@automation-platform/json';
import { type Actor, platform } from '../../domain/engine/core.ts';
import { nameInProject } from '../../domain/engine/namespaces.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import {
  methodsNeeded,
  transformationsNamed,
  workflow,
  workflowDecisions,
  workflowDocumentSchema,
  workflowDocuments,
} from '../../domain/operations-manager/workflow.ts';
import { isInstant } from '../../domain/operations-manager/workflows/dataTasks.ts';
import { operationOf } from '../../domain/operations-manager/workflows/ownOperations.ts';
import { transformationNamedBy } from '../../domain/operations-manager/workflows/taskValues.ts';
import {
  type Known,
  transformationFaults,
  type WorkflowFault,
  workflowFaults,
} from '../../domain/operations-manager/workflows/workflowFaults.ts';
import { type WorkflowGraph, workflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import { readWorkflow, type Task, type WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import { isHidden } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';
import { referrerOf } from '../engine/references.ts';
import { keptCommands } from '../keptDocuments/keptCommands.ts';
import { transformationReferences, whyUnfit } from '../template-builder/transformations.ts';
import { faultsOfSome } from './operationInputs.ts';

/**
 * The id of the workflow that a name means in an automation, a start or a task: by id, by name, then by the name without the
 * project that either of them begins with, among those that the actor may read. Throws `conflict` if it means several.
 */
export const workflowMeant = async (
  idOrName: string,
  { find, query, mayRead }: Tools,
  actor: Actor = platform,
): Promise<string | undefined> => {
  const exact = await find(workflows, idOrName);
  if (exact !== undefined) return exact;
  const value = nameInProject(idOrName);
  const named = await query(workflows, { field: 'nameInProject', op: 'equals', value });
  const [first, ...others] = named.filter((doc) => mayRead(workflows, doc, actor));
  if (others.length === 0) return first?._id;
  throw new RequestError('conflict', `Several workflows are named ${JSON.stringify(value)} in projects; use the id`, {
    faults: [{ message: 'The name is not unique', ids: [first, ...others].map((one) => one?._id) }],
  });
};

/** The automations of a type that runs workflows whose component means this one. Names that the actor may not see are replaced. */
const referrersOf = async (
  id: string,
  names: readonly string[],
  actor: Actor,
  tools: Tools,
): Promise<readonly Referrer[]> => {
  const all = await tools.query(automations, {
    any: [...new Set(names.flatMap((name) => [name, nameInProject(name)]))].map((value) => ({
      field: 'componentInProject',
      op: 'equals',
      value,
    })),
  });
  const referring = await Promise.all(
    all.map(async (doc) => {
      const runs = doc.componentType === 'workflows' || doc.componentType === null;
      return runs && (await workflowMeant(doc.componentName ?? '', tools)) === id ? [doc] : [];
    }),
  );
  return referring.flat().map((doc) => referrerOf(automations, doc, actor, tools));
};

/** The commands on workflows. */
export const workflowCommands = keptCommands({
  of: workflow,
  documents: workflowDocuments,
  schema: workflowDocumentSchema,
  decisions: workflowDecisions,
  collection: workflows,
  referrersOf,
  lockOfNamed: (document) => (transformationsNamed(document).length > 0 ? transformationReferences : undefined),
  needs: methodsNeeded,
});
export const workflowKind = workflowCommands.kind;

const patternFault = (pattern: string): string | undefined => {
  try {
    linearPattern(pattern, {});
    return undefined;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
};

const schemaFault = (schema: unknown): string | undefined => {
  const compiled = compileUserSchema(schema);
  return compiled.ok ? undefined : compiled.reason;
};

const inputFaults = (task: Task, inputs: Members): readonly SchemaFault[] => {
  const operation = operationOf(task);
  return operation ? faultsOfSome(operation, inputs) : [];
};

/** The knowledge on which faults depend. It follows from the document alone. */
const findable = { pattern: patternFault, inputs: inputFaults };

/** The faults of a workflow that follow from its document alone, with which it cannot be started. */
export const faultsOf = (graph: WorkflowGraph): readonly WorkflowFault[] => workflowFaults(graph, findable).faults;

/** The transformations that tasks name, once for each task. */
const transformationsIn = ({ tasks }: WorkflowGraph): readonly string[] =>
  tasks.flatMap((task) => transformationNamedBy(task)?.idOrName ?? []);

/** Says why a transformation that a workflow names cannot run, as of now. */
const transformationsNow = async (
  names: readonly string[],
  actor: Actor,
  tools: Tools,
): Promise<Required<Known>['transformation']> => {
  const faults = new Map<string, string | undefined>();
  await oneByOne([...new Set(names)], async (idOrName) => faults.set(idOrName, await whyUnfit(idOrName, actor, tools)));
  return (idOrName) => faults.get(idOrName);
};

const transformationsOf = (graph: WorkflowGraph, actor: Actor, tools: Tools) =>
  transformationsNow(transformationsIn(graph), actor, tools);

/** The size of a workflow, and how many faults follow from its document alone. */
export const sizeOf = (document: WorkflowDocument) => {
  const graph = workflowGraph(plainValue(document) as WorkflowDocument, isInstant);
  return {
    tasks: graph.tasks.filter(({ kind }) => kind !== 'start' && kind !== 'end').length,
    faults: faultsOf(graph).length,
    transformations: transformationsIn(graph),
  };
};

/** The same with the faults of the transformations that it names, as of now, for an actor. */
export const sizeNow = async (
  { tasks, faults, transformations }: ReturnType<typeof sizeOf>,
  actor: Actor,
  tools: Tools,
): Promise<{ readonly tasks: number; readonly faults: number }> => {
  const why = await transformationsNow(transformations, actor, tools);
  return { tasks, faults: faults + transformations.filter((idOrName) => why(idOrName) !== undefined).length };
};

/** The faults of the transformations that a workflow names, as of now, for an actor. */
export const transformationFaultsOf = async (
  graph: WorkflowGraph,
  actor: Actor,
  tools: Tools,
): Promise<readonly WorkflowFault[]> =>
  transformationFaults(graph, { transformation: await transformationsOf(graph, actor, tools) });

type Findings = { readonly faults: readonly WorkflowFault[]; readonly warnings: readonly WorkflowFault[] };

/** The faults of a workflow, with which it cannot be started, and its warnings. Throws `invalid` for what is no workflow. */
export const findingsIn = async (document: Members, actor: Actor, tools: Tools): Promise<Findings> => {
  const graph = workflowGraph(readWorkflow(plainValue(document)), isInstant);
  const children = new Map<string, boolean>();
  for (const { kind, incoming } of graph.tasks)
    if (kind === 'childJob' && typeof incoming.workflow === 'string' && !children.has(incoming.workflow))
      children.set(incoming.workflow, await isThere(incoming.workflow, actor, tools));
  return workflowFaults(graph, {
    ...findable,
    schema: schemaFault,
    transformation: await transformationsOf(graph, actor, tools),
    workflow: (named) => children.get(named) ?? false,
  });
};

/** Several workflows of a name are there, though it does not say which one it means. */
const isThere = async (named: string, actor: Actor, tools: Tools): Promise<boolean> => {
  try {
    const id = await workflowMeant(named, tools, actor);
    return id !== undefined && !(await isHidden({ of: workflow, id }, actor, tools));
  } catch (error) {
    if (error instanceof RequestError && error.code === 'conflict') return true;
    throw error;
  }
};
