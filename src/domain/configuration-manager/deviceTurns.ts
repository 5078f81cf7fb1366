import { type Static, Type } from 'typebox';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { flag, moment, text, topicsOf } from '../engine/topics.ts';

/**
 * `change`: the one that has the turn, until about that time unless it is over before. `isAside`: it is no change, but a dry run or
 * a confirmation.
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

/** A turn as it was last extended. */
const heldTurn = Type.Object({ change: Type.String(), until: Type.Integer() });
export type HeldTurn = Static<typeof heldTurn>;

/** `lapsed`: the turn that was not extended all the time that a node has looked at it. */
export const turnSchema = Type.Object({
  device: Type.String(),
  adapter: Type.String(),
  isAside: Type.Optional(Type.Literal(true)),
  ...heldTurn.properties,
  lapsed: Type.Optional(heldTurn),
});

/** No event while another change has the turn. `isOver`: the outcome of the change before is stored. */
export const takeTurn = (
  { change: former, until: last }: DeviceTurnState,
  { lapsed, ...turn }: Static<typeof turnSchema>,
  { refs: { isOver } }: Context<{ readonly isOver: boolean }>,
): readonly DeviceTurnEvent[] => {
  const isFree = former === undefined || isOver || last === 0 || (lapsed?.change === former && lapsed.until === last);
  return isFree ? [{ topic: 'deviceTurnTaken', data: turn }] : [];
};

/** No event when the turn is another one's, or was left. An extended turn has a later end, whatever the clock says. */
export const extendTurn = (
  { change: former, until: last }: DeviceTurnState,
  { change, until }: HeldTurn,
): readonly DeviceTurnEvent[] =>
  former === change && last > 0
    ? [{ topic: 'deviceTurnExtended', data: { change, until: Math.max(until, last + 1) } }]
    : [];

export const leaveTurn = (
  { change: former }: DeviceTurnState,
  { change }: { change: string },
): readonly DeviceTurnEvent[] => (former === change ? [{ topic: 'deviceTurnLeft', data: { change } }] : []);
