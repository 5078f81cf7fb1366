import { Type } from 'typebox';
import { type Actor, platform, seesAll } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { endGone, timeOut } from '../../domain/operations-manager/jobEnds.ts';
import { type JobStarted, job } from '../../domain/operations-manager/jobs.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import { documentGuard, mayReadGuard } from '../../projections/engine/guards.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { whyNotRun } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { componentCollections } from './components.ts';
import { whyNotRunComponent } from './jobWorkflows.ts';

const command = commandsOf(job);

/** Ends a job because something that it needs is gone. */
export const endGoneJob = command({
  name: 'endGoneJob',
  input: Type.Object({ reason: Type.String(), claim: Type.Union([Type.Null(), Type.Integer()]) }),
  on: 'any',
  decide: endGone,
});

/** Ends a job of which nothing was heard for too long. */
export const timeOutJob = command({
  name: 'timeOutJob',
  input: Type.Object({ hours: Type.Number(), lastEvent: Type.String() }),
  on: 'any',
  prepare: async ({ id }, { shown }) => ({ lastEvent: (await shown(jobs, id))?.last_updated }),
  decide: timeOut,
});

/** The things that a job needs as long as it runs: its automation, its component or workflow, and the account whose rights count. */
export type NeedsOfJob = Pick<JobDoc, 'automation' | 'component' | 'created_by'> & {
  readonly workflow?: JobStarted['workflow'];
};

type Needs = {
  readonly model: Pick<ReadModel, 'guard'>;
  readonly tools: Tools;
  /** Resolves once the read models show everything that this node has acknowledged. */
  readonly caughtUp: () => Promise<void> | undefined;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
};

const isKnown = async ({ type, name }: JobDoc['component'], { find }: Pick<Tools, 'find'>): Promise<boolean> => {
  const collection = type === null ? undefined : componentCollections.get(type);
  if (!collection) return true;
  return (await find(collection, name).then((id) => id !== undefined, unlessSeveral)) ?? true;
};

/** Several have a name: it does not say which one it means. */
const unlessSeveral = (error: unknown): undefined => {
  if (!(error instanceof RequestError && error.code === 'conflict')) throw error;
};

/** Makes the function that says why a job cannot go on, as of now; undefined: it can. */
export const whyGone = ({ model, tools, caughtUp, viewerOf }: Needs) => {
  return async ({
    automation,
    component,
    workflow: running,
    created_by: account,
  }: NeedsOfJob): Promise<string | undefined> => {
    await caughtUp();
    if (automation !== null && model.guard(automations.collection, automation) === undefined)
      return 'The automation of the job was deleted';
    if (!(await isKnown(component, tools))) return `There is no ${component.type} ${JSON.stringify(component.name)}`;
    if (account === platform.id) return undefined;
    const viewer = await viewerOf(account);
    if (!viewer) return 'The account that started the job is deleted or inactive';
    const mayRead = mayReadGuard(viewer.actor, model);
    const isRead = automation === null || seesAll(viewer.actor) || mayRead(documentGuard(automations, automation));
    if (!isRead) return 'The account that started the job may not read its automation any more';
    const refused = running
      ? await whyNotRun({ of: workflow, id: running.id }, viewer.actor, tools)
      : await whyNotRunComponent(component, viewer.actor, tools).catch(unlessSeveral);
    return refused && 'The account that started the job may not run its component';
  };
};

export type WhyGone = ReturnType<typeof whyGone>;
