import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { projection } from './define.ts';
import { idOf } from './stamps.ts';

export type ParkedReaction = {
  readonly event: string;
  readonly stream: string;
  readonly revision: number;
  readonly reason: string;
  readonly at: string;
};

/** Events whose reactions failed. Health shows them, and the next start tries them again. */
export const parkedReactions = projection<ParkedReaction>()(parkedReaction, {
  collection: 'parkedReactions',
  on: {
    reactionParked: (_, event) => ({ event: idOf(event), ...event.data, at: event.metadata.at }),
    reactionCompleted: () => undefined,
  },
  sorts: { at: ({ at }) => at },
  filters: {},
});
