import type { deletionOf } from '../../domain/engine/deletions.ts';
import type { Recorded } from '../../store/event.ts';
import type { AnyCommand } from './define.ts';
import type { Reaction } from './reactions.ts';

/** Carries out a decision to delete several resources, by this command for each of them. */
export const deleteDecided = (
  { of, topic, idsIn }: Pick<ReturnType<typeof deletionOf>, 'of' | 'topic' | 'idsIn'>,
  command: AnyCommand,
): Reaction => ({
  of,
  on: {
    [topic]: async ({ data }: Recorded<Parameters<typeof idsIn>[0]>) =>
      idsIn(data).map((id: string) => ({ command, id, input: {} })),
  },
});
