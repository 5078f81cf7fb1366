import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Refusal } from '../domain/refusal.ts';

/** So many failures at once, and one more each so many milliseconds. */
type Allowance = { readonly burst: number; readonly everyMs: number };

const perPair: Allowance = { burst: 10, everyMs: 30_000 };
const perAddress: Allowance = { burst: 100, everyMs: 3_000 };
const perAccount: Allowance = { burst: 20, everyMs: 10_000 };
const remembered = 20_000;
const laneMs = 500;
const laneLength = 20;

/** Buckets of tokens by key; each is kept as the time when it will be full again. */
const buckets = ({ burst, everyMs }: Allowance, now: () => number) => {
  const full = new LRUCache<string, number>({ max: remembered });
  return {
    /** Milliseconds until there is a token; 0: there is one. */
    wait: (key: string): number => Math.max(0, (full.get(key) ?? 0) - now() - (burst - 1) * everyMs),
    /** Takes a token; the answer gives it back. */
    take: (key: string): (() => void) => {
      full.set(key, Math.max(full.get(key) ?? 0, now()) + everyMs);
      return () => void full.set(key, (full.get(key) ?? 0) - everyMs);
    },
  };
};

type Options = { readonly now?: () => number; readonly pause?: (ms: number) => Promise<unknown> };

/**
 * Limits failed logins: per account and address, and per address, by refusing (`limited`, with the seconds to wait); per
 * account only by a slower lane, which addresses that the account has logged in from do not take: nobody locks out another.
 * Memory is bounded.
 */
export const limiter = ({ now = Date.now, pause = sleep }: Options = {}) => {
  const [pairs, addresses, accounts] = [buckets(perPair, now), buckets(perAddress, now), buckets(perAccount, now)];
  const trusted = new LRUCache<string, true>({ max: remembered });
  const lanes = new Map<string, { length: number; last: Promise<unknown> }>();

  const refuse = (ms: number): never => {
    throw new Refusal('limited', 'Too many failed logins; try again later', { retryAfterSeconds: Math.ceil(ms / 1000) });
  };

  /** Waits until all before in the account's lane are through, and a little. */
  const slowly = async (account: string): Promise<void> => {
    const lane = lanes.get(account) ?? { length: 0, last: Promise.resolve() };
    if (lane.length === laneLength) refuse(laneLength * laneMs);
    lanes.set(account, lane);
    lane.length++;
    lane.last = lane.last.then(() => pause(laneMs));
    await lane.last;
    if (--lane.length === 0) lanes.delete(account);
  };

  return {
    /** Does the work (a check that gives undefined when it fails), unless there were too many failures before. */
    attempt: async <T>(account: string, address: string, work: () => Promise<T | undefined>): Promise<T | undefined> => {
      const from = network(address);
      const pair = `${from} ${account}`;
      const wait = pairs.wait(pair) || addresses.wait(from);
      if (wait > 0) refuse(wait);
      const known = trusted.has(pair);
      const crowded = !known && accounts.wait(account) > 0;
      // Taken beforehand: else a thousand attempts at once would all be let through.
      const giveBack = pairs.take(pair);
      let failed = false;
      try {
        if (crowded) await slowly(account);
        const result = await work();
        failed = result === undefined;
        if (!failed) trusted.set(pair, true);
        return result;
      } finally {
        if (failed) {
          addresses.take(from);
          if (!known && !crowded) accounts.take(account);
        } else giveBack();
      }
    },
  };
};


/** Whoever has an IPv6 address has the whole /64. */
const network = (address: string): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return groups.slice(0, 4).join(':');
};
