import { Type } from 'typebox';
import { complete, park, parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { commandsOf } from './define.ts';

const command = commandsOf(parkedReaction);

export const parkReaction = command({
  name: 'parkReaction',
  on: 'any',
  decide: park,
  input: Type.Object(
    {
      stream: Type.String(),
      revision: Type.Integer(),
      reason: Type.String(),
      trigger: Type.Optional(Type.String()),
      tries: Type.Optional(Type.Integer()),
    },
    { additionalProperties: false },
  ),
});
export const completeReaction = command({
  name: 'completeReaction',
  on: 'existing',
  decide: complete,
});
