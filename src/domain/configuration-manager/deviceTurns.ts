import { type Static, Type } from 'typebox';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { flag, moment, text, topicsOf } from '../engine/topics.ts';

/**
 * `change`: the one that has the turn, until that time unless it is over before. `isAside`: it is no change, but a dry run or a
 * confirmation.
 */
const turn = { change: text, until: moment };
const isAside = Type.Optional(flag);

const topics = topicsOf({
  deviceTurnTaken: [
    'A change of a device has its turn',
    Type.Object({ device: text, adapter: text, isAside, ...turn }),
  ],
  deviceTurnExtended: ['A change of a device goes on', Type.Object(turn)],
  deviceTurnLeft: ['A change of a device has no turn any more', Type.Object({ change: text })],
});
type DeviceTurnEvent = EventOf<typeof topics>;

/** `last`: the last changes, the newest first. */
export type DeviceTurnState = { readonly change?: string; readonly last: readonly string[]; readonly until: number };

const mostLast = 20;

/** The change that may change a device now, over all nodes. The id is derived from source and device. */
export const deviceTurn = aggregate<DeviceTurnState, DeviceTurnEvent>({
  area: 'configuration-manager',
  category: 'deviceTurn',
  topics,
  internal: true,
  initial: { last: [], until: 0 },
  evolve: {
    deviceTurnTaken: ({ last }, { change, until, isAside }) => ({
      change,
      until,
      last: isAside ? last : [change, ...last].slice(0, mostLast),
    }),
    deviceTurnExtended: (state, { change, until }) => ({ ...state, change, until }),
    deviceTurnLeft: (state) => ({ ...state, until: 0 }),
  },
  exists: ({ change }) => change !== undefined,
});

export const turnSchema = Type.Object({
  device: Type.String(),
  adapter: Type.String(),
  change: Type.String(),
  isAside: Type.Optional(Type.Literal(true)),
  until: Type.Integer(),
  now: Type.Integer(),
});

/** No event while another change has the turn. `isOver`: the outcome of the change before is stored. */
export const takeTurn = (
  { change: former, until: last }: DeviceTurnState,
  { now, ...turn }: Static<typeof turnSchema>,
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
