import { Type } from 'typebox';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { moment, text, topicsOf } from '../engine/topics.ts';

/** `change`: the one that has the turn, until that time unless it is over before. */
const turn = { change: text, until: moment };

const topics = topicsOf({
  deviceTurnTaken: ['A change of a device has its turn', Type.Object({ device: text, adapter: text, ...turn })],
  deviceTurnExtended: ['A change of a device goes on', Type.Object(turn)],
  deviceTurnLeft: ['A change of a device has no turn any more', Type.Object({ change: text })],
});
type DeviceTurnEvent = EventOf<typeof topics>;

export type DeviceTurnState = { readonly change?: string; readonly until: number };

/** The change that may change a device now, over all nodes. The id is derived from source and device. */
export const deviceTurn = aggregate<DeviceTurnState, DeviceTurnEvent>({
  area: 'configuration-manager',
  category: 'deviceTurn',
  topics,
  internal: true,
  initial: { until: 0 },
  evolve: {
    deviceTurnTaken: (_, { change, until }) => ({ change, until }),
    deviceTurnExtended: (_, { change, until }) => ({ change, until }),
    deviceTurnLeft: (state) => ({ ...state, until: 0 }),
  },
  exists: ({ change }) => change !== undefined,
});

export const turnSchema = Type.Object({
  device: Type.String(),
  adapter: Type.String(),
  change: Type.String(),
  until: Type.Integer(),
  now: Type.Integer(),
});

/** No event while another change has the turn. `isOver`: the outcome of the change before is stored. */
export const takeTurn = (
  { change: former, until: last }: DeviceTurnState,
  { now, ...turn }: { device: string; adapter: string; change: string; until: number; now: number },
  { refs: { isOver } }: Context<{ readonly isOver: boolean }>,
): readonly DeviceTurnEvent[] =>
  former === undefined || isOver || last <= now ? [{ topic: 'deviceTurnTaken', data: turn }] : [];

export const extendTurn = (
  { change: former, until: last }: DeviceTurnState,
  { change, until, now }: { change: string; until: number; now: number },
): readonly DeviceTurnEvent[] =>
  former === change && last > now ? [{ topic: 'deviceTurnExtended', data: { change, until } }] : [];

export const leaveTurn = (
  { change: former }: DeviceTurnState,
  { change }: { change: string },
): readonly DeviceTurnEvent[] => (former === change ? [{ topic: 'deviceTurnLeft', data: { change } }] : []);
