import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { projection } from './define.ts';

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
    reactionParked: (_, { stream, data, metadata }) => ({
      event: stream.slice(stream.indexOf('-') + 1),
      ...data,
      at: metadata.at,
    }),
    reactionCompleted: () => undefined,
  },
  sorts: { at: ({ at }) => at },
  filters: {},
});
