import { Type } from 'typebox';
import { type Actor, platform } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { endGone, timeOut } from '../../domain/operations-manager/jobEnds.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { documentGuard, mayReadGuard } from '../../projections/engine/guards.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { componentCollections } from './components.ts';

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

/** What a job needs as long as it runs: its automation, its component, and the account whose rights count. */
export type NeedsOfJob = Pick<JobDoc, 'automation' | 'component' | 'created_by'>;

type Needs = {
  readonly model: Pick<ReadModel, 'guard'>;
  readonly tools: Pick<Tools, 'find'>;
  /** Resolves once the read models show everything that this node has acknowledged. */
  readonly settled: () => Promise<void> | undefined;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
};

const isKnown = async ({ type, name }: JobDoc['component'], { find }: Pick<Tools, 'find'>): Promise<boolean> => {
  const collection = type === null ? undefined : componentCollections.get(type);
  if (!collection) return true;
  try {
    return (await find(collection, name)) !== undefined;
  } catch (error) {
    // Several have the name.
    if (error instanceof RequestError && error.code === 'conflict') return true;
    throw error;
  }
};

/** Makes the function that says why a job cannot go on, as of now; undefined: it can. */
export const whyGone = ({ model, tools, settled, viewerOf }: Needs) => {
  return async ({ automation, component, created_by: account }: NeedsOfJob): Promise<string | undefined> => {
    await settled();
    if (automation !== null && model.guard(automations.collection, automation) === undefined)
      return 'The automation of the job was deleted';
    if (!(await isKnown(component, tools))) return `There is no ${component.type} ${JSON.stringify(component.name)}`;
    if (account === platform.id) return undefined;
    const viewer = await viewerOf(account);
    if (!viewer) return 'The account that started the job is deleted or inactive';
    const mayRead = mayReadGuard(viewer.actor, model);
    const isRead = automation === null || viewer.actor.admin || mayRead(documentGuard(automations, automation));
    return isRead ? undefined : 'The account that started the job may not read its automation any more';
  };
};

export type WhyGone = ReturnType<typeof whyGone>;
