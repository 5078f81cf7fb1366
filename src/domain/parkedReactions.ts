import { aggregate, type Event } from './core.ts';

/** What followed from an event could not be carried out, and why; or it was after all. */
export type ParkedReactionEvent =
  | Event<'reactionParked', { readonly stream: string; readonly position: number; readonly reason: string }>
  | Event<'reactionCompleted', Record<string, never>>;

type State = { readonly parked: boolean };

/** One stream per event whose reaction failed; its id is the event's id. */
export const parkedReaction = aggregate<State, ParkedReactionEvent>({
  area: 'operations-manager',
  category: 'parkedReaction',
  initial: { parked: false },
  evolve: { reactionParked: () => ({ parked: true }), reactionCompleted: () => ({ parked: false }) },
  exists: ({ parked }) => parked,
});

export const park = ({ parked }: State, { stream, position, reason }: { stream: string; position: number; reason: string }): readonly ParkedReactionEvent[] =>
  (parked ? [] : [{ type: 'reactionParked', data: { stream, position, reason } }]);

export const complete = (): readonly ParkedReactionEvent[] => [{ type: 'reactionCompleted', data: {} }];
