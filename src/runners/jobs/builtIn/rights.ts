import type { NeedsOfJob, WhyGone } from '../../../commands/operations-manager/jobEnds.ts';
import { type Actor, platform } from '../../../domain/engine/core.ts';
import { RunEnded } from './run.ts';

type Needs = {
  /** Says why a job cannot go on. */
  readonly whyGone: WhyGone;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
  /** The account as the token with this id lets it act in the jobs that it has started, also after its end. */
  readonly withinToken: (actor: Actor, token: string) => Promise<Actor>;
};

/** Finds the account whose rights count for a job, as of now. The starter may be a token of it. */
export type ActorOf = (job: Omit<NeedsOfJob, 'created_by'>, starter: Pick<Actor, 'id' | 'token'>) => Promise<Actor>;

/** Throws `RunEnded` if the account has lost its rights, or if something that the job needs is gone. */
export const rightsNow =
  ({ whyGone, viewerOf, withinToken }: Needs): ActorOf =>
  async (job, { id: account, token }) => {
    const reason = await whyGone({ ...job, created_by: account });
    if (reason !== undefined) throw new RunEnded(reason);
    const actor = account === platform.id ? platform : (await viewerOf(account))?.actor;
    if (!actor) throw new RunEnded('The account that started the job is deleted or inactive');
    return token === undefined ? actor : withinToken(actor, token);
  };
