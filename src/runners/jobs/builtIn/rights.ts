import type { NeedsOfJob, WhyGone } from '../../../commands/operations-manager/jobEnds.ts';
import { type Actor, platform } from '../../../domain/engine/core.ts';
import { RunEnded } from './run.ts';

type Needs = {
  /** Says why a job cannot go on. */
  readonly whyGone: WhyGone;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
};

/**
 * Finds the account whose rights count for a job, as of now. Throws `RunEnded` if it has lost them, or if something that
 * the job needs is gone.
 */
export const rightsNow =
  ({ whyGone, viewerOf }: Needs) =>
  async (job: Omit<NeedsOfJob, 'created_by'>, account: string): Promise<Actor> => {
    const reason = await whyGone({ ...job, created_by: account });
    if (reason !== undefined) throw new RunEnded(reason);
    const actor = account === platform.id ? platform : (await viewerOf(account))?.actor;
    if (!actor) throw new RunEnded('The account that started the job is deleted or inactive');
    return actor;
  };
