import { parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { idOf, projection } from './define.ts';
import { documentGuard } from './guards.ts';

export type ParkedReaction = {
  readonly _id: string;
  /** The id of the event, its stream and its revision. */
  readonly event: string;
  readonly stream: string;
  readonly revision: number;
  readonly reason: string;
  /** The trigger whose run failed; null: the reactions to the event failed. */
  readonly trigger: string | null;
  readonly tries: number | null;
  readonly at: string;
};

/** Only admins may read a document that follows none. */
const nothing = '';

/**
 * Events whose consequences failed. Health shows them. The next start tries reactions again; runs of triggers wait for
 * a person to decide.
 */
export const parkedReactions = projection<ParkedReaction>()(parkedReaction, {
  collection: 'parkedReactions',
  on: {
    reactionParked: (_, event) => {
      const { stream, revision, reason, trigger = null, tries = null } = event.data;
      const { at, $causationId: caused } = event.metadata;
      const id = idOf(event);
      return { _id: id, event: trigger === null ? id : caused, stream, revision, reason, trigger, tries, at };
    },
    reactionCompleted: () => undefined,
    reactionDiscarded: () => undefined,
  },
  sorts: { at: ({ at }) => at },
  filters: {
    trigger: ({ trigger }) => trigger ?? [],
    kind: ({ trigger }) => (trigger === null ? 'reaction' : 'run'),
  },
  guard: ({ trigger }) => documentGuard({ collection: 'triggers' }, trigger ?? nothing),
});
