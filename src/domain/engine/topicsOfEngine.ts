import { Type } from 'typebox';
import type { Topics } from './core.ts';
import { text } from './topics.ts';

/** Topics that any stream of the platform may have, whatever its area. They change no resource. */
export const topicsOfAll: Topics = {
  claimLapsed: [
    'A claim of a name was given up before it was used',
    Type.Object({ kind: text, parent: Type.Optional(text), name: text }),
  ],
  turnPassed: ['A command that waited too long in a series was shut out', Type.Object({ series: text })],
};
