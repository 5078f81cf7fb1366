import { setTimeout as pause } from 'node:timers/promises';
import type { GuardedClock } from '@automation-platform/concurrency';
import { Type } from 'typebox';
import { deviceConfiguration } from '../../domain/configuration-manager/deviceConfigurations.ts';
import type { CopiedDevice } from '../../domain/configuration-manager/deviceSources.ts';
import {
  type DeviceTurnState,
  deviceTurn,
  extendTurn,
  type HeldTurn,
  leaveTurn,
  takeTurn,
  turnSchema,
} from '../../domain/configuration-manager/deviceTurns.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { deviceKey } from '../../projections/configuration-manager/deviceBackups.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Handle } from '../engine/handle.ts';
import type { Request } from '../engine/requests.ts';

const command = commandsOf(deviceTurn);
const { change, until } = turnSchema.properties;

const takeDeviceTurn = command({
  name: 'takeDeviceTurn',
  input: turnSchema,
  on: 'any',
  decide: takeTurn,
  prepare: async ({ state: { change } }, tools) => ({
    isOver: change !== undefined && (await tools.state(deviceConfiguration, change)).outcome !== undefined,
  }),
});
const extendDeviceTurn = command({
  name: 'extendDeviceTurn',
  input: Type.Object({ change, until }),
  on: 'existing',
  decide: extendTurn,
});
const leaveDeviceTurn = command({
  name: 'leaveDeviceTurn',
  input: Type.Object({ change }),
  on: 'existing',
  decide: leaveTurn,
});

/** How long a turn lasts that nobody extends, in milliseconds: after a crash, the next change waits for so long. */
const lease = 30_000;
const beat = lease / 3;
const longestWait = 2 * lease;
const [firstPause, longestPause] = [20, 1000];

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly clock: Pick<GuardedClock, 'now' | 'monotonic'>;
  /** Does a work once no other work with the key is under way on this node. */
  readonly inLine: <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
};

type Turn = {
  readonly found: CopiedDevice;
  /** The id of the change. Its stored outcome ends the turn. */
  readonly change: string;
  /** It is no change: `leave` ends its turn. */
  readonly isAside?: true;
  readonly about: Omit<Request, 'id' | 'input' | 'idempotency' | 'ifRevision'>;
  readonly signal: AbortSignal;
};

const turnIdOf = ({ source, device }: CopiedDevice): string =>
  derivedId(`deviceTurn ${deviceKey({ device: device.name, source })}`);

/** Lets changes of one device through one at a time, over all nodes: the log says whose turn it is. */
export const deviceTurns = ({ handle, tools: { state }, clock: { now, monotonic }, inLine }: Needs) => {
  const take = async (turn: Turn, id: string): Promise<void> => {
    const { change, isAside, about, signal } = turn;
    const { source, device } = turn.found;
    const ofTurn = { device: device.name, adapter: source.name, change, ...defined({ isAside }) };
    const ends = monotonic() + longestWait;
    // The clocks of nodes differ. So the time counts since this node has seen the turn extended.
    let watch: { readonly turn: HeldTurn; readonly since: number } | undefined;
    for (let ms = firstPause; ; ms = Math.min(2 * ms, longestPause)) {
      signal.throwIfAborted();
      const lapsed = watch && monotonic() - watch.since >= lease ? watch.turn : undefined;
      const input = { ...ofTurn, until: now() + lease, ...defined({ lapsed }) };
      const { state } = await handle(takeDeviceTurn, { ...about, id, input });
      const { change: former, until } = state as DeviceTurnState; // the command's own aggregate
      if (former === change) return;
      const time = monotonic();
      if (former !== undefined && (watch?.turn.change !== former || watch.turn.until !== until))
        watch = { turn: { change: former, until }, since: time };
      if (time > ends)
        throw new RequestError('adapter_failed', `Another change of ${JSON.stringify(device.name)} is under way`);
      await pause(ms, undefined, { signal });
    }
  };

  /** Does a work with a signal that ends it when the turn is lost. */
  const holding = async <T>(
    { change, about, signal }: Turn,
    id: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    const extend = async (): Promise<void> => {
      const { changed } = await handle(extendDeviceTurn, { ...about, id, input: { change, until: now() + lease } });
      if (!changed) ending.abort(new DOMException('The turn of the change is over', 'AbortError'));
    };
    // After a beat that fails the next ones come before the turn is over.
    const beats = setInterval(() => void extend().catch(() => undefined), beat);
    try {
      return await work(ending.signal);
    } finally {
      clearInterval(beats);
      signal.removeEventListener('abort', end);
    }
  };

  const leave = async ({ found, change, about }: Omit<Turn, 'signal'>): Promise<void> => {
    await handle(leaveDeviceTurn, { ...about, id: turnIdOf(found), input: { change } });
  };

  return {
    /** Does a work in the turn of a change, once all changes before it are over or nothing is heard of them any more. */
    inTurn: <T>(turn: Turn, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const id = turnIdOf(turn.found);
      return inLine(id, turn.signal, async () => {
        await take(turn, id);
        const working = holding(turn, id, work);
        // The turn of a change ends with its stored outcome. A turn that cannot be left ends by itself.
        return turn.isAside ? working.finally(() => leave(turn).catch(() => undefined)) : working;
      });
    },
    /** Ends the turn of a change whose outcome nobody will store. */
    leave,
    /** The last changes of a device that had their turns, the newest first. */
    last: async (found: CopiedDevice): Promise<readonly string[]> => (await state(deviceTurn, turnIdOf(found))).last,
  };
};

export type DeviceTurns = ReturnType<typeof deviceTurns>;
