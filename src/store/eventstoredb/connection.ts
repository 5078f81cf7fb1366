import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '@automation-platform/concurrency';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Appended, NewEvent } from '../port.ts';
import { type Answer, readAnswer } from './answer.ts';
import { batchAppends } from './batches.ts';
import { closed, explain, finalError, isElsewhere, NoConnection, Silence, unavailable } from './errors.ts';
import { type Line, openLine } from './line.ts';
import { within } from './patience.ts';
import { type Server, serverAt } from './url.ts';

const { path, requestSerialize } = streamsService.StreamsService.read;

/** A call that reads. */
export type Call = ClientReadableStream<Answer>;

/** The client, and the metadata and options for each of its calls. */
type Calls = Pick<Line, 'client'> & ReturnType<Server['call']>;

/** A connection to EventStoreDB, until another one takes its place. */
export type Connection = {
  /** Aborts when the connection is given up. */
  readonly gone: AbortSignal;
  /** The client for calls of any kind. With `leader`, only the leader may answer the calls. */
  calls(leader?: boolean): Promise<Calls>;
  read(request: ReadReq): Promise<Call>;
  /** Tries an append once. */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>;
  /** Checks that the server answers. If it does not, the connection is replaced. */
  suspect(): void;
  /** Notes that an answer has arrived. */
  heard(): void;
};

/** Limits and intervals in milliseconds. */
export type Times = {
  /** The limit for one answer. */
  readonly answer: number;
  /** The limit for the check that the server answers. The check begins when this part of `answer` is left. */
  readonly ping: number;
  /** The limit for a new connection. */
  readonly connect: number;
  /** The limit for all tries together. It begins again with each progress. */
  readonly tries: number;
  /** The interval between two checks of the head. */
  readonly watch: number;
};

export const usualTimes: Times = { answer: 3000, ping: 1000, connect: 1000, tries: 7000, watch: 2000 };

const ignore = (): void => undefined;

// The pauses between two connections, in milliseconds.
const shortest = 50;
const longest = 500;
// After this number of failed connections in a row, each one gets more time, because the network may be slow.
const patientAfter = 6;
// For this time the same message is not logged again.
const quietFor = 60_000;

/** Opens a connection after a pause of `wait` milliseconds, within `most` milliseconds. */
const connect = (server: Server, times: Times, wait: number, most: number) => {
  const closing = new AbortController();
  const closingSignal = closing.signal;
  // Each reader adds a listener. Node must not warn of many.
  setMaxListeners(0, closingSignal);
  let opened: Line | undefined;
  const line = (async (): Promise<Line> => {
    if (wait > 0) await pause(wait, undefined, { signal: closingSignal, ref: false });
    opened = await openLine(server, most, closingSignal);
    return opened;
  })();
  line.catch(ignore);
  /** The open line, for which calls wait. Rejects with `Silence` or `NoConnection`. */
  const ready = (): Promise<Line> =>
    line.catch((error: unknown) => {
      throw closingSignal.aborted ? new Silence() : new NoConnection(error);
    });
  const calls = async (leader = false): Promise<Calls> => ({ client: (await ready()).client, ...server.call(leader) });
  const send = batchAppends(
    async () => {
      const { client, metadata, options } = await calls(true);
      return client.batchAppend(metadata, options);
    },
    () => {
      life++;
    },
    closingSignal,
  );
  // The number of answers so far.
  let life = 0;
  return {
    line,
    gone: closingSignal,
    send,
    heard: (): void => {
      life++;
    },
    life: () => life,
    /** False when the connection was open and is broken. */
    working: (): boolean => opened?.working() ?? true,
    ping: async (): Promise<void> => opened?.ping(times.ping),
    calls,
    read: async (request: ReadReq): Promise<Call> => {
      const { client, metadata, options } = await calls();
      return client.makeServerStreamRequest(path, requestSerialize, readAnswer, request, metadata, options);
    },
    retire: (): void => {
      closing.abort();
      line.then((open) => open.close(), ignore);
    },
  };
};

/**
 * Logs messages, but the same message with the same reason at most once a minute. Messages with the same `what` count
 * as the same. Returns whether the message was logged.
 */
const teller = (server: Server, log: Log) => {
  const lastReported = new Map<string, number>();
  return (message: string, about: Record<string, unknown>, what = message): boolean => {
    const key = `${what} ${String(about.reason)}`;
    const now = performance.now();
    for (const [known, since] of lastReported) if (now - since >= quietFor) lastReported.delete(known);
    if (lastReported.has(key)) return false;
    lastReported.set(key, now);
    const at = { ...about, url: server.shown };
    log(message, server.user === undefined ? at : { ...at, user: server.user });
    return true;
  };
};

type Proposal = Parameters<Connection['append']>;

/** Tries an append once. If the answer is late, the connection is checked. */
const append = async (connection: Opened, times: Times, [stream, expected, events]: Proposal): Promise<Appended> => {
  const suspicion = setTimeout(connection.suspect, times.answer - times.ping);
  const sending = connection.send(stream, expected, events);
  try {
    return await within(
      times.answer,
      sending.then(({ answer }) => answer),
    );
  } finally {
    clearTimeout(suspicion);
    sending.then(({ forget }) => forget(), ignore);
  }
};

/** Calls that read and calls that append: one kind may fail while the other goes on. */
export type Kind = 'reads' | 'appends';

/**
 * How calls of a kind fare: since when all have failed, when the last one did and why, and until when further ones are
 * refused at once.
 */
type Fare = { failing?: number | undefined; last: number; reason?: unknown; refused: number };

// A caller right after a call whose tries have ended would wait for nothing else. A request makes several calls, and
// requests for the same stream wait for each other.
export const restMs = 500;

type Tried = {
  readonly times: Times;
  readonly fare: Fare;
  /** Called when a try over a connection has failed. */
  readonly failed: (connection: Connection, error: unknown) => void;
  readonly ended: () => boolean;
  /** The reason why the connection is down, if it is. */
  readonly trouble: () => unknown;
};

/**
 * The pauses between tries, each longer than the last, and the time limit for all tries without progress. Where calls of
 * the kind have failed for as long already, there is one try, and none right after another call has given up.
 */
const triesOf = ({ times, fare, failed, ended, trouble }: Tried) => {
  let began = performance.now();
  if (began - fare.last > times.tries) fare.failing = undefined;
  if (fare.failing !== undefined && began < fare.refused) throw unavailable(trouble() ?? fare.reason);
  let until = (fare.failing ?? began) + times.tries;
  let wait = 25;
  return {
    progress: (): void => {
      fare.failing = undefined;
      began = performance.now();
      until = began + times.tries;
      wait = 25;
    },
    /** Pauses before the next try, or throws the error for the caller. */
    next: async (connection: Connection, error: unknown): Promise<void> => {
      failed(connection, error);
      const final = finalError(error);
      if (final) throw final;
      if (ended()) throw closed();
      const now = performance.now();
      fare.failing ??= began;
      fare.last = now;
      fare.reason = error;
      // The next try may take as long as this one did.
      if (now + wait + (now - began) > until) {
        fare.refused = now + restMs;
        throw unavailable(trouble() ?? error);
      }
      await pause(wait * (0.5 + Math.random() / 2));
      wait = Math.min(2 * wait, 500);
      began = performance.now();
    },
  };
};

/**
 * Keeps one connection to EventStoreDB. It is replaced when it is broken or silent, or when its node is not the leader.
 */
export const connections = (url: string, times: Times, log: Log) => {
  const server = serverAt(url);
  const tell = teller(server, log);
  let up = false;
  let leads = false;
  let ended = false;
  // Failed connections in a row.
  let failures = 0;
  let toldDown = false;
  // The reason why the connection is down.
  let trouble: unknown;
  const fares: Readonly<Record<Kind, Fare>> = { reads: { last: 0, refused: 0 }, appends: { last: 0, refused: 0 } };
  let current: Opened;

  const answered = (): void => {
    up = true;
    trouble = undefined;
    if (toldDown) log('EventStoreDB answers again', { url: server.shown });
    toldDown = false;
  };
  const down = (message: string, error: unknown): void => {
    up = false;
    trouble = error;
    if (!ended && tell(message, { reason: explain(error, server) }, 'down')) toldDown = true;
  };

  const begin = (wait: number): Opened => {
    const most = failures < patientAfter ? times.connect : Math.max(times.connect, times.answer);
    const inner = connect(server, times, wait, most);
    const opened: Opened = {
      ...inner,
      suspect: () => suspect(opened),
      append: (...proposal) => append(opened, times, proposal),
    };
    inner.line.then(
      (line) => {
        if (opened !== current || ended) return;
        failures = 0;
        leads = line.leads();
        for (const fare of Object.values(fares)) fare.failing = undefined;
        answered();
      },
      (error: unknown) => {
        if (opened !== current || ended) return;
        failures++;
        down('EventStoreDB cannot be reached', new NoConnection(error));
        replace(opened, Math.min(shortest * 2 ** failures, longest));
      },
    );
    return opened;
  };

  const replace = (failed: Opened, wait = shortest): void => {
    if (failed !== current || ended) return;
    failed.retire();
    current = begin(wait);
  };

  const suspects = new WeakSet<Opened>();
  const suspect = (connection: Opened): void => {
    if (suspects.has(connection)) return;
    suspects.add(connection);
    const life = connection.life();
    connection
      .ping()
      .catch((error: unknown) => {
        if (connection !== current || ended || connection.life() !== life) return;
        down('The connection to EventStoreDB is silent and is replaced', error);
        replace(connection, 0);
      })
      .finally(() => suspects.delete(connection));
  };

  /**
   * Handles the failure of a call. The connection is replaced only if it is broken, or if its node is not the leader.
   */
  const failed = (connection: Connection, error: unknown): void => {
    if (connection !== current || ended || finalError(error) || error instanceof NoConnection) return;
    if (!current.working()) {
      down('The connection to EventStoreDB is broken and is replaced', error);
      replace(current, 0);
    } else if (server.cluster && isElsewhere(error)) {
      tell('The node of EventStoreDB does not lead, another is looked for', { reason: explain(error, server) });
      replace(current);
    }
  };

  current = begin(0);

  return {
    times,
    failed,
    answered,
    down,
    tell,
    explain: (error: unknown): string => explain(error, server),
    shown: server.shown,
    current: (): Connection => {
      if (ended) throw closed();
      return current;
    },
    up: () => up,
    /** True if the server is a process of the platform, which leads. */
    leads: () => leads,
    tries: (kind: Kind) => triesOf({ times, fare: fares[kind], failed, ended: () => ended, trouble: () => trouble }),
    close: (): void => {
      ended = true;
      up = false;
      current.retire();
    },
  };
};

type Opened = ReturnType<typeof connect> & Connection;

export type Connections = ReturnType<typeof connections>;
