import { Type } from 'typebox';
import { aggregate, type EventOf, type SchemaData } from './core.ts';
import { text, topicsOf, whole } from './topics.ts';

/** The event whose consequences failed: its stream and revision; how often it was tried, and why it failed. */
const parking = Type.Object({
  stream: text,
  revision: whole,
  reason: text,
  /** The trigger whose run failed; absent: the reactions to the event failed. */
  trigger: Type.Optional(text),
  /** Earlier versions did not store it. */
  tries: Type.Optional(whole),
});
export type Parking = SchemaData<typeof parking>;

const topics = topicsOf({
  reactionParked: [
    'A consequence of an event was parked, because it kept failing',
    Type.Object({
      stream: text,
      revision: whole,
      reason: text,
      trigger: Type.Optional(text),
      tries: Type.Optional(whole),
    }),
  ],
  reactionCompleted: ['A parked consequence was carried out', Type.Object({})],
  reactionDiscarded: ['A parked consequence was given up', Type.Object({})],
});
/** The consequences of an event were parked, with the reason. Later it was completed, or a person gave it up. */
export type ParkedReactionEvent = EventOf<typeof topics>;

export type ParkedState = { readonly parked: boolean; readonly parking?: Parking };

/**
 * One stream for each event whose reactions failed, whose id is the event's id; and one for each run of a trigger that
 * failed, whose id follows from event and trigger.
 */
export const parkedReaction = aggregate<ParkedState, ParkedReactionEvent>({
  area: 'operations-manager',
  category: 'parkedReaction',
  topics,
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
