import { adminsAlone } from '../../domain/authorization/gbac.ts';
import type { Gbac } from '../../domain/engine/core.ts';
import { discard, type ParkedState, parkedReaction } from '../../domain/engine/parkedReactions.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { commandsOf, type Tools } from '../engine/define.ts';

/** An account that may see the trigger of a parked run may decide about it. A run without a trigger is for admins. */
const gbacOf = async ({ parking }: ParkedState, tools: Tools): Promise<Gbac> => {
  if (parking?.trigger === undefined) return adminsAlone;
  const { content } = await tools.state(trigger, parking.trigger);
  if (!content) return adminsAlone;
  const { read, write } = (await tools.state(automation, content.actionId)).content.gbac;
  return { read: [], write: [...read, ...write] };
};

/** Gives up what is parked. */
export const discardParked = commandsOf(parkedReaction)({
  name: 'discardParked',
  on: 'existing',
  decide: discard,
  prepare: async ({ state }, tools) => ({ gbac: await gbacOf(state, tools) }),
  gbac: (_, { gbac }) => gbac,
});
