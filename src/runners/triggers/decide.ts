import { mayRead } from '../../commands/engine/access.ts';
import type { Tools } from '../../commands/engine/define.ts';
import { depthOf, tooDeep } from '../../commands/operations-manager/firing.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Firing, Verdict } from './firing.ts';

type Viewing<Viewer> = {
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<Viewer | undefined>;
  readonly sees: (viewer: Viewer, event: StoredEvent) => Promise<boolean>;
};

export type DecideNeeds<Viewer> = Viewing<Viewer> & {
  readonly state: Tools['state'];
  /** Resolves once the read models show the position, and all that this node has acknowledged. */
  readonly reached: (position: number) => Promise<void>;
};

/**
 * Decides about a firing by what the trigger's account may do now. An event that the account may not see does not match:
 * so neither a job nor a refusal tells of it.
 */
export const decider =
  <Viewer extends { readonly actor: Actor }>({ viewerOf, sees, state, reached }: DecideNeeds<Viewer>) =>
  async ({ event, read, definition: { content, account } }: Firing): Promise<Verdict> => {
    const refused = (reason: 'rights' | 'loop', message: string): Verdict => ({
      kind: 'refused',
      refusal: { reason, message },
    });
    await reached(event.position);
    const viewer = account === null ? undefined : await viewerOf(account);
    if (!viewer) return refused('rights', 'The account of the trigger is deleted or inactive');
    if (!(await sees(viewer, event))) return { kind: 'unseen' };
    const { gbac } = (await state(automation, content.actionId)).content;
    if (!mayRead(viewer.actor, gbac)) return refused('rights', 'The account may not read the automation');
    if (read instanceof Error) throw read;
    const depth = await depthOf(read, state);
    const deep = tooDeep(depth);
    if (deep !== undefined) return refused('loop', deep);
    return { kind: 'starts', actor: viewer.actor, depth };
  };
