import { isObject, type Members, plainValue } from '@automation-platform/json';
import { Type } from 'typebox';
import { aggregate, type EventOf } from '../engine/core.ts';
import { at, type DocumentKind, listOf } from '../engine/documentKinds.ts';
import { type KeptState, keptDecisions, keptEvolve, type NeededMethod } from '../engine/keptDocuments.ts';
import { followsProject } from '../engine/namespaces.ts';
import { name } from '../engine/schemas.ts';
import { type IsSecret, isSecretOfDocument } from '../engine/secretFields.ts';
import { nothing, object, restoredAs, text, topicsOf } from '../engine/topics.ts';
import { isInstant } from './workflows/dataTasks.ts';
import { operationMethod } from './workflows/ownOperations.ts';
import { transformationNamedBy } from './workflows/taskValues.ts';
import { readTask, readWorkflow, type WorkflowDocument } from './workflows/workflows.ts';

const open = (description: string) =>
  Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description }));

/** A workflow in requests: what the service does not know is kept. */
export const workflowDocumentSchema = Type.Unsafe<Members>(
  Type.Object(
    {
      name: name('Name, unique among workflows'),
      tasks: open('Tasks by id; workflow_start and workflow_end are tasks, too'),
      transitions: open('Edges: of each task by id, those to others by id, with their type and state'),
    },
    {
      additionalProperties: true,
      title: 'WorkflowDocument',
      description: 'Workflow as its author wrote it; all members are kept',
    },
  ),
);

const content = { name: text, tasks: object, transitions: object };

const topics = topicsOf({
  workflowCreated: ['A workflow was created', Type.Object(content)],
  workflowReplaced: ['A workflow got another content', Type.Object(content)],
  workflowRestored: restoredAs('A workflow', content),
  workflowDeleted: ['A workflow was deleted', nothing],
});
export type WorkflowEvent = EventOf<typeof topics>;

/** A workflow as it is stored: with sealed secrets, and with the marks of packages/json. */
type WorkflowState = KeptState<WorkflowDocument>;

const { become, restore, end } = keptEvolve<WorkflowDocument>();

export const workflow = aggregate<WorkflowState, WorkflowEvent>({
  area: 'operations-manager',
  category: 'workflow',
  topics,
  initial: { exists: false, content: { name: '', tasks: {}, transitions: {} } },
  evolve: { workflowCreated: become, workflowReplaced: become, workflowRestored: restore, workflowDeleted: end },
  exists: (state) => state.exists,
  names: ({ exists, content: { name } }) => (exists ? [{ kind: 'workflow', name }] : []),
  follows: ({ content }) => followsProject(content.name),
});

const incomingOf = (task: unknown): unknown =>
  isObject(task) && isObject(task.variables) ? task.variables.incoming : undefined;

/**
 * The secrets of a workflow: those that the inputs of its tasks say themselves. A value that is `static` is said itself;
 * any other `{task, ...}`, and a text `$var...`, only names one.
 */
const secretsOf = ({ tasks }: Members): IsSecret => {
  const inside = new Set<unknown>();
  const statics = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    inside.add(value);
    for (const [member, inner] of Object.entries(value)) {
      if (isObject(inner) && inner.task === 'static' && isSecretOfDocument(member, value as Members))
        statics.add(inner);
      walk(inner);
    }
  };
  for (const task of isObject(tasks) ? Object.values(tasks) : []) walk(incomingOf(task));
  return (member, members) => {
    if (statics.has(members)) return member === 'value' || member === 'variable';
    return inside.has(members) && !statics.has(members[member]) && isSecretOfDocument(member, members);
  };
};

export const workflowDecisions = keptDecisions<WorkflowDocument, WorkflowEvent>({
  name: 'workflow',
  read: (document) => readWorkflow(plainValue(document)),
  secrets: secretsOf,
});

/** The methods of the operations that the tasks of a workflow stand for. */
export const methodsNeeded = ({ tasks }: Members): readonly NeededMethod[] =>
  Object.entries(isObject(tasks) ? tasks : {}).flatMap(([id, value]) => {
    const task = readTask(id, value, isInstant);
    const [area, method] = (task.kind === 'platform' && operationMethod(task)) || [];
    return area === undefined || method === undefined ? [] : [{ task: id, area, method }];
  });

/** The transformations that the tasks of a workflow name. */
export const transformationsNamed = ({ tasks }: Members): readonly string[] => {
  const all = Object.entries(isObject(tasks) ? tasks : {}).map(([id, task]) => readTask(id, task, isInstant));
  return [...new Set(all.flatMap((task) => transformationNamedBy(task)?.idOrName ?? []))];
};

/** Workflows of any installation. */
export const workflowDocuments: DocumentKind = {
  of: workflow,
  name: 'workflow',
  types: ['workflow'],
  secrets: (document, work) => work(document, secretsOf(document)) as Members,
  onlyThere: true,
  is: ({ name, tasks, transitions }) => typeof name === 'string' && isObject(tasks) && isObject(transitions),
  importing: listOf('PUT', '/operations-manager/workflows', 'workflows'),
  ...at('/operations-manager/workflows'),
};
