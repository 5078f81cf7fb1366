import { mayRead } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import { type Actor, platform } from '../../../domain/engine/core.ts';
import { automation } from '../../../domain/operations-manager/automations.ts';
import type { JobState } from '../../../domain/operations-manager/jobs.ts';
import { RunEnded } from './run.ts';

type Needs = {
  readonly tools: Pick<Tools, 'state'>;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
};

/** Finds the account whose rights count for a job. Throws `RunEnded` if it may not run the job any more. */
export const rightsNow =
  ({ tools, viewerOf }: Needs) =>
  async ({ started }: JobState, account: string): Promise<Actor> => {
    const actor = account === platform.id ? platform : (await viewerOf(account))?.actor;
    if (!actor) throw new RunEnded('The account that started the job is deleted or inactive');
    const id = started?.automation ?? null;
    if (id === null) return actor;
    const { exists, content } = await tools.state(automation, id);
    if (!exists) throw new RunEnded('The automation of the job was deleted');
    if (!mayRead(actor, content.gbac))
      throw new RunEnded('The account that started the job may not read its automation any more');
    return actor;
  };
