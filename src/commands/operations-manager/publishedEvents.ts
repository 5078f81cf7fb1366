import { Type } from 'typebox';
import { name } from '../../domain/engine/schemas.ts';
import { publish, publishedEvent } from '../../domain/operations-manager/publishedEvents.ts';
import { commandsOf } from '../engine/define.ts';

/** Stores an event with a source and topic that a user has chosen. */
export const publishEvent = commandsOf(publishedEvent)({
  name: 'publishEvent',
  on: 'new',
  decide: publish,
  input: Type.Object({ source: name('Source'), topic: name('Topic'), payload: Type.Unknown() }),
});
