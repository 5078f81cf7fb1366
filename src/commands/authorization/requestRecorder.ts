import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { insist, type Log } from '@automation-platform/concurrency';
import { Type } from 'typebox';
import {
  type Counted,
  type DeniedRequest,
  denied,
  type HandOut,
  handedOut,
} from '../../domain/authorization/requestRecords.ts';
import { platform } from '../../domain/engine/core.ts';
import { type CommandOn, commandsOf } from '../engine/define.ts';
import type { Handle } from '../engine/handle.ts';

/** Counted rows: each row with its number, and when the first and the last came, in milliseconds. */
type Tally<Row> = {
  readonly rows: readonly (Row & { readonly count: number })[];
  readonly first: number;
  readonly last: number;
};

type CountingNeeds<Row> = {
  /** Stores a tally. Until it has ended, what comes is counted together. */
  readonly store: (tally: Tally<Row>) => Promise<void>;
  /** The row that stands for all that are too many. */
  readonly others: Row;
  readonly now: () => number;
  /** How long rows are counted before they are stored, in milliseconds. */
  readonly gatherMs: number;
  /** Once it aborts, what was counted is stored at once. */
  readonly signal: AbortSignal;
};

const mostRows = 1000;

/** Rows of some time, by their content. */
const tallyFrom = <Row extends object>(first: number, others: Row) => {
  const counts = new Map<string, { readonly row: Row; count: number }>();
  const rest = { row: others, count: 0 };
  let last = first;

  const entryOf = (row: Row): { count: number } => {
    const key = JSON.stringify(row);
    const counter = counts.get(key);
    if (counter) return counter;
    if (counts.size === mostRows) return rest;
    const counted = { row, count: 0 };
    counts.set(key, counted);
    return counted;
  };

  return {
    add: (row: Row, at: number): void => {
      entryOf(row).count++;
      last = Math.max(last, at);
    },
    tally: (): Tally<Row> => {
      const all = rest.count === 0 ? [...counts.values()] : [...counts.values(), rest];
      return { rows: all.map(({ row, count }) => ({ ...row, count })), first, last };
    },
  };
};

/**
 * Counts rows with the same content and stores their numbers from time to time. It holds 1,000 different rows at most;
 * all further ones are counted as one.
 */
const counting = <Row extends object>({ store, others, now, gatherMs, signal }: CountingNeeds<Row>) => {
  let current: ReturnType<typeof tallyFrom<Row>> | undefined;
  let atWork: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (current) {
      await pause(gatherMs, undefined, { signal, ref: false }).catch(() => undefined);
      const { tally } = current;
      current = undefined;
      await store(tally());
    }
    atWork = undefined;
  };

  return {
    count: (row: Row): void => {
      const at = now();
      current ??= tallyFrom(at, others);
      current.add(row, at);
      atWork ??= work();
    },
    /** Resolves once all that was counted is stored. To be called after the signal has aborted. */
    stored: async (): Promise<void> => atWork,
  };
};

type Needs = {
  readonly handle: Handle;
  /** False while the active profile says that nothing is recorded. */
  readonly isOn: () => boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly log: Log;
  /** How long requests are counted before their numbers are stored. */
  readonly gatherMs?: number;
};

const otherDenials: DeniedRequest = { account: null, address: null, operation: null, code: null };
const otherHandOuts: HandOut = { account: null, address: null, operation: null, resource: null };

/**
 * Records in the log which requests were refused, what was exported, and which secrets were given out: numbers, stored every ten seconds. A kill may
 * lose the last ones.
 */
export const requestRecorder = ({ handle, isOn, now = Date.now, log, gatherMs = 10_000 }: Needs) => {
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Stores a tally in the stream of its day. It tries until it succeeds; once the service stops, a last time. */
  const storing =
    <Row>(command: CommandOn<Counted<Row>>) =>
    async ({ rows, first, last }: Tally<Row>): Promise<void> => {
      const [began, ended] = [new Date(first).toISOString(), new Date(last).toISOString()];
      const request = {
        id: began.slice(0, 10),
        input: { rows, first: began, last: ended },
        actor: platform,
        operation: command.name,
        requestId: randomUUID(),
      };
      // If the outcome of an attempt is unknown, the next one must not count the same requests again.
      const idempotency = { key: request.requestId, request: '' };
      const store = async (): Promise<void> => void (await handle(command, { ...request, idempotency }));
      await insist(store, {
        signal,
        pauseMs: 100,
        longestPauseMs: 5000,
        onFailure: (error, isNew) => {
          if (isNew) log('Requests could not be recorded; it is tried again', { operation: command.name, error });
        },
      }).catch((error: unknown) =>
        log('Requests were not recorded', { operation: command.name, rows: rows.length, error }),
      );
    };

  const shared = { now, gatherMs, signal };
  const denials = counting({ ...shared, store: storing(noteDenials), others: otherDenials });
  const exports = counting({ ...shared, store: storing(noteExports), others: otherHandOuts });
  const secrets = counting({ ...shared, store: storing(noteSecrets), others: otherHandOuts });

  return {
    /** A request was refused: the caller is unknown, may not do this, or asks too often. */
    denied: (row: DeniedRequest): void => {
      if (isOn()) denials.count(row);
    },
    /** A resource was exported. */
    exported: (row: HandOut): void => {
      if (isOn()) exports.count(row);
    },
    /** The secrets of a resource were given out in clear. */
    secretsHandedOut: (row: HandOut): void => {
      if (isOn()) secrets.count(row);
    },
    /** Stores what was counted. To be called once no more requests are answered. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await Promise.all([denials.stored(), exports.stored(), secrets.stored()]);
    },
  };
};

/** Stores the requests that were refused in some seconds. */
const noteDenials = commandsOf(denied)({
  name: 'noteDenials',
  input: Type.Unsafe<Counted<DeniedRequest>>({}),
  on: 'any',
  decide: (_, data) => [{ topic: 'requestsDenied', data }],
});

/** Stores to whom secrets were given in some seconds. */
const noteSecrets = commandsOf(handedOut)({
  name: 'noteSecrets',
  input: Type.Unsafe<Counted<HandOut>>({}),
  on: 'any',
  decide: (_, data) => [{ topic: 'secretsHandedOut', data }],
});

/** Stores the exports of some seconds. */
const noteExports = commandsOf(handedOut)({
  name: 'noteExports',
  input: Type.Unsafe<Counted<HandOut>>({}),
  on: 'any',
  decide: (_, data) => [{ topic: 'exported', data }],
});
