import type { Handle } from '../../commands/engine/handle.ts';
import { parkReaction } from '../../commands/engine/parkedReactions.ts';
import type { Request } from '../../commands/engine/requests.ts';
import { noteRefusals } from '../../commands/operations-manager/refusedRuns.ts';
import { platform } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type StoredEvent, WrongRevision } from '../../store/port.ts';
import { parkedIdOf } from './firing.ts';
import type { Refused } from './refusals.ts';

type Needs = {
  readonly handle: Handle;
  /** The operation that runs triggers of a type. */
  readonly operation: string;
  /** Called with what became of each run: `job`, `parked`, or the reason why there is none. */
  readonly outcome: (outcome: string) => void;
};

/** Stores that runs of triggers have no jobs. */
export const outcomes = ({ handle, operation, outcome }: Needs) => ({
  /** `after`: the event of the refusals that are known to be the last ones. Throws `WrongRevision` if later ones are. */
  refuse: async (trigger: string, refused: Refused, after: string | undefined): Promise<void> => {
    const about = { operation, requestId: refused.event, causation: refused.event };
    try {
      await handle(noteRefusals, {
        ...about,
        id: trigger,
        input: { ...refused, after: after ?? null },
        actor: platform,
      });
    } catch (error) {
      if (error instanceof RequestError && error.code === 'conflict')
        throw new WrongRevision(`triggerRuns-${trigger}`, -1, -1);
      throw error;
    }
    for (let n = 0; n < refused.count; n++) outcome(refused.reason);
  },
  park: async (
    { id, stream, revision }: Pick<StoredEvent, 'id' | 'stream' | 'revision'>,
    { trigger, error, attempts }: { readonly trigger: string; readonly error: unknown; readonly attempts: number },
    about: Partial<Request> = {},
  ): Promise<void> => {
    const reason = error instanceof Error ? error.message : String(error);
    const input = { stream, revision, reason, trigger, tries: attempts };
    const request = { operation, requestId: id, causation: id, ...about, actor: platform };
    await handle(parkReaction, { ...request, id: parkedIdOf(id, trigger), input });
    outcome('parked');
  },
});
