import { setTimeout as sleep } from 'node:timers/promises';
import { fairQueue, lruCache } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';

/** How many failures are allowed at once, and after how many milliseconds one more is. */
type Allowance = { readonly burst: number; readonly everyMs: number };

const perPair: Allowance = { burst: 10, everyMs: 30_000 };
const perNetwork: Allowance = { burst: 100, everyMs: 3_000 };
const perAccount: Allowance = { burst: 20, everyMs: 10_000 };
const remembered = 20_000;
const laneMs = 250;
const laneLength = 100;
const mostLanes = 1_000;
const mostWaiting = 1_000;

/** Logins of a network by local passwords and those by providers do not wait for each other: a provider may hang. */
export type Way = 'local' | 'provider';

/** Token buckets by key. Each is stored as the time when it will be full again. */
const buckets = ({ burst, everyMs }: Allowance, now: () => number) => {
  const full = lruCache<number>(remembered);
  return {
    /** Milliseconds until the bucket has a token; 0: it has one. */
    wait: (key: string): number => Math.max(0, (full.get(key) ?? 0) - now() - (burst - 1) * everyMs),
    /** True if one more may fail, also if all of those under way do. */
    hasRoom: (key: string, underWay: number): boolean =>
      Math.max((full.get(key) ?? 0) - now(), 0) + underWay * everyMs <= (burst - 1) * everyMs,
    /** Takes a token; the returned function gives it back. */
    take: (key: string): (() => void) => {
      full.set(key, Math.max(full.get(key) ?? 0, now()) + everyMs);
      return () => void full.set(key, (full.get(key) ?? 0) - everyMs);
    },
  };
};

/** `now`: milliseconds by a clock that never jumps. */
type Options = { readonly now?: () => number; readonly pause?: (ms: number) => Promise<unknown> };

const limited = (ms: number): RequestError =>
  new RequestError('limited', 'Too many failed logins; try again later', { retryAfterSeconds: Math.ceil(ms / 1000) });

/**
 * Limits failed logins. Per account and network, and per network, it refuses with `limited` and the seconds to wait.
 * Per account alone it only slows attempts down: they wait in a lane in which networks take turns. A network from which
 * the account has logged in before skips the lane. So nobody can lock out another account. Memory is bounded.
 * Of a network as many are under way as may fail. More wait, because many people may come from one address.
 */
export const limiter = ({ now = () => performance.now(), pause = sleep }: Options = {}) => {
  const [pairs, networks, accounts] = [buckets(perPair, now), buckets(perNetwork, now), buckets(perAccount, now)];
  const trusted = lruCache<true>(remembered);
  const lanes = new Map<string, ReturnType<typeof fairQueue>>();

  /** Waits for the network's turn in the account's lane, and then for `laneMs`. */
  const slowly = async (account: string, network: string): Promise<void> => {
    const full = () => limited(laneLength * laneMs);
    if (!lanes.has(account) && lanes.size === mostLanes) throw full();
    const lane = lanes.get(account) ?? fairQueue({ atOnce: 1, mostWaiting: laneLength, full });
    lanes.set(account, lane);
    try {
      await lane.fairly(network, () => pause(laneMs));
    } finally {
      if (lane.idle()) lanes.delete(account);
    }
  };

  const rooms = new Map<string, { underWay: number; readonly waiting: (() => void)[] }>();
  const roomOf = (key: string) => {
    const room = rooms.get(key) ?? { underWay: 0, waiting: [] };
    rooms.set(key, room);
    return room;
  };
  const wakeNext = (key: string): void => {
    const { underWay, waiting } = roomOf(key);
    waiting.shift()?.();
    if (underWay === 0 && waiting.length === 0) rooms.delete(key);
  };

  /** Waits until all attempts of the network that are under way, and this one, may fail. Throws `limited`. */
  const enter = async (network: string, key: string): Promise<void> => {
    for (let isFirst = true; ; isFirst = false) {
      const wait = networks.wait(network);
      const room = roomOf(key);
      if (isFirst && room.waiting.length === mostWaiting) throw limited(perNetwork.everyMs);
      if (wait > 0) {
        wakeNext(key);
        throw limited(wait);
      }
      if (networks.hasRoom(network, room.underWay)) {
        room.underWay++;
        return;
      }
      await new Promise<void>((resolve) => {
        if (isFirst) room.waiting.push(resolve);
        else room.waiting.unshift(resolve);
      });
    }
  };
  const leave = (key: string): void => {
    roomOf(key).underWay--;
    wakeNext(key);
  };

  return {
    /** Runs a check, which gives undefined when it fails. Throws `limited` after too many failures. */
    attempt: async <T>(
      account: string,
      network: string,
      work: () => Promise<T | undefined>,
      way: Way = 'local',
    ): Promise<T | undefined> => {
      const [pair, room] = [`${network} ${account}`, `${way} ${network}`];
      const wait = Math.max(pairs.wait(pair), networks.wait(network));
      if (wait > 0) throw limited(wait);
      // The places are taken before the work. Otherwise a thousand simultaneous attempts would all pass.
      const giveBack = pairs.take(pair);
      await enter(network, room).catch((error: unknown) => {
        giveBack();
        throw error;
      });
      const isTrusted = trusted.has(pair);
      const crowded = !isTrusted && accounts.wait(account) > 0;
      let failed = false;
      try {
        if (crowded) await slowly(account, network);
        const result = await work();
        failed = result === undefined;
        if (!failed) trusted.set(pair, true);
        return result;
      } finally {
        if (failed) networks.take(network);
        else giveBack();
        leave(room);
        if (failed && !isTrusted && !crowded) accounts.take(account);
      }
    },
  };
};

/**
 * The network of an address, by which failed logins are counted. For IPv6 it is the /64, because whoever has one
 * address has them all.
 */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address;
  const [withoutZone = ''] = address.split('%');
  const [head = '', tail] = withoutZone.split('::');
  const headParts = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? headParts
      : [...headParts, ...Array<string>(Math.max(0, 8 - headParts.length - right.length)).fill('0'), ...right];
  return groups.slice(0, 4).join(':');
};
