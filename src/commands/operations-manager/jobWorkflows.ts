import { compileUserSchema, findFaults, patternMatcher, schemaMatcher } from '@automation-platform/bounded-schemas';
import { isObject, type Members, plainValue } from '@automation-platform/json';
import type { Actor } from '../../domain/engine/core.ts';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import { faultsInTheOpen, maskSecrets } from '../../domain/engine/secretFields.ts';
import type { JobState, Variables } from '../../domain/operations-manager/jobs.ts';
import type { JobWork, StartedWorkflow } from '../../domain/operations-manager/jobWorkflows.ts';
import { performedAlone } from '../../domain/operations-manager/workflows/advance.ts';
import type { Outcome } from '../../domain/operations-manager/workflows/controlTasks.ts';
import { isInstant } from '../../domain/operations-manager/workflows/dataTasks.ts';
import { refuse } from '../../domain/operations-manager/workflows/refusals.ts';
import type { Work } from '../../domain/operations-manager/workflows/taskOutcomes.ts';
import type { JobSelf } from '../../domain/operations-manager/workflows/taskValues.ts';
import { type WorkflowGraph, workflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import type { WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import { openTasks } from '../../projections/operations-manager/openTasks.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import { whyNotRun } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';
import { perRevision, type Version } from '../engine/perRevision.ts';
import { perTools } from '../engine/perTools.ts';
import { componentCollections } from './components.ts';
import { faultsOf, transformationFaultsOf, workflowMeant } from './workflows.ts';
import { workflowAt, workflowNamed } from './workflowsInUse.ts';

/** A revision of a workflow, ready to run. */
type Ready = {
  readonly graph: WorkflowGraph;
  /** Those that follow from the document alone; computed when a job starts. */
  faults?: readonly Fault[];
  /** True if the document names the user who started the job. */
  readonly namesInitiator: boolean;
};

// Bytes, about.
const mostKept = 64 * 1024 * 1024;
const bytesOf = ({ tasks }: WorkflowGraph): number => tasks.length * (Math.ceil(tasks.length / 8) + 2000) + 1;

const readyFor = (document: WorkflowDocument): Ready => ({
  graph: workflowGraph(plainValue(document) as WorkflowDocument, isInstant),
  namesInitiator: JSON.stringify(document).includes('initiator'),
});

/** The revisions that are in use. */
const keptBy = perTools(() =>
  perRevision({ make: readyFor, sizeOf: ({ graph }: Ready) => bytesOf(graph), most: mostKept }),
);

/** The revision that a job runs; undefined if it cannot be read any more. */
const readyAt = async (version: Version, tools: Tools): Promise<Ready | undefined> => {
  const revisions = keptBy(tools);
  const before = revisions.find(version);
  if (before) return before;
  const document = await workflowAt(version, tools);
  return document && revisions.of(version, () => document);
};

const match = patternMatcher(refuse);
const fits = schemaMatcher(refuse);

/** Throws `unprocessable` if the schema cannot be used. */
export const faultsUnder = (schema: unknown, value: unknown): readonly (Fault & { readonly path: string })[] => {
  const compiled = compileUserSchema(plainValue(schema));
  if (!compiled.ok) throw new RequestError('unprocessable', `The schema cannot be used: ${compiled.reason}`);
  return compiled.matches(value).errors;
};

const workWith = (graph: WorkflowGraph, job: JobSelf, now: string, { seal }: Tools): Work => ({
  graph,
  job,
  now: Date.parse(now),
  match,
  fits,
  seal,
});

const noWorkflow = workflowGraph({ name: '', tasks: {}, transitions: {} }, isInstant);

/** Carries out a data task beside any job. Throws `RequestError` for what would be its error. */
export const performAlone = (name: string, inputs: Members, now: number, tools: Tools): Outcome => {
  const self = { id: '', initiator: '' };
  return performedAlone(name, inputs, workWith(noWorkflow, self, new Date(now).toISOString(), tools));
};

/** Faults of a start's variables under the `inputSchema` of a plain document. One that cannot be used checks nothing. */
const unfitFor = ({ inputSchema }: WorkflowDocument, variables: Variables, self: JobSelf): readonly Fault[] => {
  if (!isObject(inputSchema) || Object.keys(inputSchema).length === 0) return [];
  const masked = maskSecrets({ ...variables, _id: self.id, initiator: self.initiator });
  const errors = findFaults(inputSchema, plainValue(masked));
  return faultsInTheOpen(errors, masked).map(({ path, message }) => ({ path: `/variables${path}`, message }));
};

type Starting = {
  readonly id: string;
  readonly actor: Actor;
  readonly now: string;
  /** With sealed secrets. */
  readonly variables: Variables;
  /** How many jobs it is a part of, one in the other. */
  readonly level?: number;
};

/** The workflow of a job that is about to start, if the name means one. */
export const workflowToStart = async (
  name: string,
  { id, actor, now, variables, level = 0 }: Starting,
  tools: Tools,
): Promise<StartedWorkflow | undefined> => {
  const found = await workflowNamed(name, actor, tools);
  if (!found) return undefined;
  const ready = keptBy(tools).of(found, () => found.document);
  ready.faults ??= faultsOf(ready.graph);
  const self = { id, initiator: actor.username, level };
  return {
    id: found.id,
    revision: found.revision,
    faults: [...ready.faults, ...(await transformationFaultsOf(ready.graph, actor, tools))],
    unfit: unfitFor(ready.graph.document, variables, self),
    work: workWith(ready.graph, self, now, tools),
  };
};

/** The component types of automations whose component is a workflow. */
const workflowTypes: readonly (string | null)[] = ['workflows', null];

/** The same for a component of an automation. */
export const workflowOfComponent = async (
  { type, name }: { readonly type: string | null; readonly name: string },
  starting: Starting,
  tools: Tools,
): Promise<StartedWorkflow | undefined> =>
  workflowTypes.includes(type) ? workflowToStart(name, starting, tools) : undefined;

/** Why the actor may not run a component of an automation, as of now; undefined: it may, or the platform stores none. */
export const whyNotRunComponent = async (
  { type, name }: { readonly type: string | null; readonly name: string },
  actor: Actor,
  tools: Tools,
): Promise<RequestError | undefined> => {
  if (actor.admin) return undefined;
  const collection = workflowTypes.includes(type) ? workflows : componentCollections.get(type ?? '');
  if (!collection) return undefined;
  const id = await (collection === workflows ? workflowMeant(name, tools, actor) : tools.find(collection, name));
  return id === undefined ? undefined : whyNotRun({ of: collection.of, id }, actor, tools);
};

type Deciding = { readonly id: string; readonly state: JobState; readonly now: string };

/** The workflow that a job runs; undefined if it runs none, or it cannot be read any more. */
export const runningOf = async (
  id: string,
  state: JobState,
  tools: Tools,
): Promise<{ readonly graph: WorkflowGraph; readonly self: JobSelf } | undefined> => {
  const version = state.tasks && state.started?.workflow;
  const ready = version && (await readyAt(version, tools));
  if (!ready) return undefined;
  const initiator = ready.namesInitiator ? ((await tools.shown(openTasks, id))?.initiator ?? '') : '';
  return { graph: ready.graph, self: { id, initiator, level: state.started?.parent?.level ?? 0 } };
};

/** The knowledge that a decision about a job's tasks needs; undefined if the job runs no workflow. */
export const workOf = async ({ id, state, now }: Deciding, tools: Tools): Promise<JobWork | undefined> => {
  const version = state.tasks && state.started?.workflow;
  if (!version) return undefined;
  const found = await runningOf(id, state, tools);
  if (!found) return { broken: `Revision ${version.revision} of the workflow ${version.id} cannot be read` };
  return workWith(found.graph, found.self, now, tools);
};
