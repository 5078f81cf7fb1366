import { aggregate, type Event } from './core.ts';

/** A reaction to an event was parked, with the reason; or it was completed later. */
export type ParkedReactionEvent =
  | Event<'reactionParked', { readonly stream: string; readonly revision: number; readonly reason: string }>
  | Event<'reactionCompleted', Record<string, never>>;

type State = { readonly parked: boolean };

/** One stream for each event whose reactions failed. Its id is the event's id. */
export const parkedReaction = aggregate<State, ParkedReactionEvent>({
  area: 'operations-manager',
  category: 'parkedReaction',
  internal: true,
  initial: { parked: false },
  evolve: { reactionParked: () => ({ parked: true }), reactionCompleted: () => ({ parked: false }) },
  exists: ({ parked }) => parked,
});

export const park = (
  { parked }: State,
  { stream, revision, reason }: { stream: string; revision: number; reason: string },
): readonly ParkedReactionEvent[] => (parked ? [] : [{ topic: 'reactionParked', data: { stream, revision, reason } }]);

export const complete = (): readonly ParkedReactionEvent[] => [{ topic: 'reactionCompleted', data: {} }];
