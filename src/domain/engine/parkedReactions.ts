import { aggregate, type Event } from './core.ts';

/** The event whose consequences failed: its stream and revision; how often it was tried, and why it failed. */
export type Parking = {
  readonly stream: string;
  readonly revision: number;
  readonly reason: string;
  /** The trigger whose run failed; absent: the reactions to the event failed. */
  readonly trigger?: string;
  /** Earlier versions did not store it. */
  readonly tries?: number;
};

/** What follows from an event was parked, with the reason. Later it was completed, or somebody gave it up. */
export type ParkedReactionEvent =
  | Event<'reactionParked', Parking>
  | Event<'reactionCompleted', Record<string, never>>
  | Event<'reactionDiscarded', Record<string, never>>;

export type ParkedState = { readonly parked: boolean; readonly parking?: Parking };

/**
 * One stream for each event whose reactions failed, whose id is the event's id; and one for each run of a trigger that
 * failed, whose id follows from event and trigger.
 */
export const parkedReaction = aggregate<ParkedState, ParkedReactionEvent>({
  area: 'operations-manager',
  category: 'parkedReaction',
  internal: true,
  initial: { parked: false },
  evolve: {
    reactionParked: (_, parking) => ({ parked: true, parking }),
    reactionCompleted: () => ({ parked: false }),
    reactionDiscarded: () => ({ parked: false }),
  },
  exists: ({ parked }) => parked,
});

export const park = ({ parked }: ParkedState, parking: Parking): readonly ParkedReactionEvent[] =>
  parked ? [] : [{ topic: 'reactionParked', data: parking }];

export const complete = (): readonly ParkedReactionEvent[] => [{ topic: 'reactionCompleted', data: {} }];

export const discard = (): readonly ParkedReactionEvent[] => [{ topic: 'reactionDiscarded', data: {} }];
