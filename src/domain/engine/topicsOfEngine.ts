import { Type } from 'typebox';
import { lock } from './locks.ts';
import { nameClaims } from './names.ts';
import { parkedReaction } from './parkedReactions.ts';
import { retirement } from './retirement.ts';
import { type Described, describeTopics, text, whole } from './topics.ts';

const name = { kind: text, parent: Type.Optional(text), name: text };

/** The topics of streams that belong to no area. */
export const engineTopics: readonly Described[] = [
  describeTopics(nameClaims, {
    nameClaimed: ['A stream claimed a unique name', Type.Object({ ...name, owner: text, decidedBy: text })],
  }),
  describeTopics(lock, {
    turnTaken: ['A command took its turn in a series of commands', Type.Object({ by: text, revision: whole })],
  }),
  describeTopics(parkedReaction, {
    reactionParked: [
      'What follows from an event was parked, because it kept failing',
      Type.Object({
        stream: text,
        revision: whole,
        reason: text,
        trigger: Type.Optional(text),
        tries: Type.Optional(whole),
      }),
    ],
    reactionCompleted: ['What had been parked was carried out', Type.Object({})],
    reactionDiscarded: ['What had been parked was given up', Type.Object({})],
  }),
  describeTopics(retirement, {
    endedRetired: ['What had ended long ago left the read models', Type.Object({ before: text })],
  }),
];

/** Topics that any stream of the platform may have, whatever its area. They change no resource. */
export const topicsOfAll = {
  claimLapsed: ['A claim of a name was given up before it was used', Type.Object(name)],
  turnPassed: ['A command that waited too long in a series was shut out', Type.Object({ series: text })],
} as const;
