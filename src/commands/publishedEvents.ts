import { Type } from 'typebox';
import { publish, publishedEvent } from '../domain/publishedEvents.ts';
import { name } from '../domain/schemas.ts';
import { commandsOf } from './define.ts';

/** Puts an event of somebody else into the log. */
export const publishEvent = commandsOf(publishedEvent)({
  name: 'publishEvent', on: 'new', decide: publish,
  input: Type.Object({ source: name('Source'), topic: name('Topic'), payload: Type.Unknown() }),
});
