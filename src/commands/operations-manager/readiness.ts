import { oneByOne } from '@automation-platform/concurrency';
import { isObject, plainValue } from '@automation-platform/json';
import type { Actor, Aggregate } from '../../domain/engine/core.ts';
import { missingSecrets } from '../../domain/engine/importedSecrets.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { wordsOf } from '../../domain/engine/resource.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { isBuiltIn } from '../../domain/operations-manager/builtIn.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import { isInstant } from '../../domain/operations-manager/workflows/dataTasks.ts';
import { operationOf } from '../../domain/operations-manager/workflows/ownOperations.ts';
import { formOfTask } from '../../domain/operations-manager/workflows/peopleTasks.ts';
import { referenceIn } from '../../domain/operations-manager/workflows/taskValues.ts';
import { workflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import type { Task, WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import { transformation } from '../../domain/template-builder/transformations.ts';
import { unknownGroups } from '../authorization/names.ts';
import { isHidden } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';
import { kindOf } from '../kinds.ts';
import { planOf, transformationCommands } from '../template-builder/transformations.ts';
import { componentCollections } from './components.ts';
import { findingsIn, workflowCommands, workflowMeant } from './workflows.ts';

/** Something that a resource needs to run, and that the platform does not have. */
export type Missing = { readonly in: string; readonly kind: string; readonly name: string };

/** The state of the platform, as an account may see it. */
type View = { readonly actor: Actor; readonly tools: Tools };

type Named = Pick<Missing, 'kind' | 'name'>;

/** A kind of resources that tasks and automations name, and the collection where they are found. */
type Shelf = { readonly of: Aggregate; readonly collection: Parameters<Tools['find']>[0] };

const isHere = async ({ of, collection }: Shelf, idOrName: string, { actor, tools }: View): Promise<boolean> => {
  const id = await tools.find(collection, idOrName);
  return id !== undefined && !(await isHidden({ of, id }, actor, tools));
};

/** The input of an operation that names a resource, and the category of this resource. */
const namedBy: Readonly<Record<string, readonly [input: string, category: string]>> = {
  'AgentSessionManager.runAgent': ['agent', 'agent'],
  'LifecycleManager.getResourceInstanceByName': ['modelName', 'resourceModel'],
  'LifecycleManager.runAction': ['modelId', 'resourceModel'],
  'MOP.RunCommandTemplate': ['template', 'commandTemplate'],
  'MOP.runAnalyticsTemplate': ['template', 'analyticTemplate'],
  'TemplateBuilder.renderJinja2TemplateWithCast': ['name', 'template'],
  'TemplateBuilder.renderJinjaTemplate': ['name', 'template'],
};

const shelfOf = (category: string): Shelf | undefined => {
  const kind = kindOf(category);
  if (kind?.imports) return { of: kind.of, collection: kind.imports.collection };
  const stored = [...componentCollections.values()].find(({ of }) => of.category === category);
  return stored && { of: stored.of, collection: stored };
};

/** The resources that a task names, by their categories. */
const resourcesOf = (task: Task): readonly (readonly [category: string, name: unknown])[] => {
  const form = task.kind === 'people' ? formOfTask(task, task.incoming) : undefined;
  if (form && 'formId' in form) return [['form', form.formId]];
  if (task.kind === 'childJob') return [['workflow', task.incoming.workflow]];
  const [input, category] = (operationOf(task) && namedBy[`${task.app}.${task.name}`]) || [];
  return input === undefined || category === undefined ? [] : [[category, task.incoming[input]]];
};

const isWorkflowHere = async (name: string, { actor, tools }: View): Promise<boolean> => {
  try {
    const id = await workflowMeant(name, tools, actor);
    return id !== undefined && !(await isHidden({ of: workflow, id }, actor, tools));
  } catch (error) {
    if (error instanceof RequestError && error.code === 'conflict') return false;
    throw error;
  }
};

/** The worker that a task needs: of an adapter, or for the task. */
const workerFor = ({ id, kind, app, name }: Task, { tasks }: WorkflowDocument): readonly Named[] => {
  if (kind !== 'worker') return [];
  const content = tasks[id];
  const isAdapter = isObject(content) && content.location === 'Adapter';
  return [isAdapter ? { kind: 'adapter', name: app } : { kind: 'task', name: `${app}.${name}` }];
};

const missingForTask = async (task: Task, document: WorkflowDocument, view: View): Promise<readonly Named[]> => {
  const found = [...workerFor(task, document)];
  for (const [category, name] of resourcesOf(task)) {
    if (typeof name !== 'string' || name === '' || referenceIn(name)) continue;
    const shelf = shelfOf(category);
    const isThere =
      category === 'workflow' ? await isWorkflowHere(name, view) : !shelf || (await isHere(shelf, name, view));
    if (!isThere) found.push({ kind: wordsOf(category), name });
  }
  for (const name of await unknownGroups(view.tools, task.groups)) found.push({ kind: 'group', name });
  return found;
};

const faultsAsMissing = (faults: readonly { readonly path: string; readonly message: string }[]): readonly Named[] =>
  faults.map(({ path, message }) => ({ kind: 'fault', name: path === '' ? message : `${path}: ${message}` }));

const missingForWorkflow = async (id: string, document: WorkflowDocument, view: View): Promise<readonly Named[]> => {
  const { actor, tools } = view;
  const { faults } = await findingsIn(document, actor, tools);
  const { tasks } = workflowGraph(plainValue(document) as WorkflowDocument, isInstant);
  const ofTasks = await oneByOne(tasks, (task) => missingForTask(task, document, view));
  const secrets = await workflowCommands.missing(id, '', tools);
  return [...faultsAsMissing(faults), ...ofTasks.flat(), ...secrets.map((name) => ({ kind: 'secret', name }))];
};

type Component = { readonly componentType: string | null; readonly componentName: string | null };

const missingForAutomation = async (
  _: string,
  { componentType: type, componentName }: Component,
  view: View,
): Promise<readonly Named[]> => {
  const name = componentName ?? '';
  if (type === 'workflows' || type === null)
    return (await isWorkflowHere(name, view)) ? [] : [{ kind: 'workflow', name }];
  const collection = componentCollections.get(type);
  if (!collection) return isBuiltIn(type) ? [] : [{ kind: 'component', name: `${type} ${name}` }];
  const { of } = collection;
  return (await isHere({ of, collection }, name, view)) ? [] : [{ kind: wordsOf(of.category), name }];
};

const ofCategory: Readonly<Record<string, (id: string, content: never, view: View) => Promise<readonly Named[]>>> = {
  [workflow.category]: missingForWorkflow,
  [automation.category]: missingForAutomation,
  [transformation.category]: async (id, content, { tools }) => [
    ...faultsAsMissing(planOf(content).faults),
    ...(await transformationCommands.missing(id, '', tools)).map((name) => ({ kind: 'secret', name })),
  ],
};

/** A resource that is to run, and the name that it is known by if it is gone. */
export type Needed = { readonly category: string; readonly id: string; readonly name: string };

/** Says what a resource needs to run and the platform does not have, as of now, as far as the actor may see. */
export const missingFor = async (
  { category, id, name }: Needed,
  actor: Actor,
  tools: Tools,
): Promise<readonly Missing[]> => {
  const kind = kindOf(category);
  if (!kind) return [];
  const state = await tools.state(kind.of, id);
  if (!kind.of.exists(state) || (await isHidden({ of: kind.of, id }, actor, tools)))
    return [{ in: name, kind: wordsOf(category), name }];
  const here = kind.of.names?.(state)[0]?.name ?? name;
  const find = ofCategory[category];
  const found = find
    ? await find(id, state.content as never, { actor, tools })
    : missingSecrets(state.content ?? {}).map((at) => ({ kind: 'secret', name: at }));
  const once = new Map(found.map((one) => [`${one.kind} ${one.name}`, { in: here, ...one }]));
  return [...once.values()];
};
