import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { type Answer, readAnswer } from './eventstoredbAnswer.ts';
import { batchAppends } from './eventstoredbBatches.ts';
import { closed, explain, finalError, isElsewhere, NoConnection, Silence, unavailable } from './eventstoredbErrors.ts';
import { type Line, openLine } from './eventstoredbLine.ts';
import { within } from './eventstoredbPatience.ts';
import { type Server, serverAt } from './eventstoredbUrl.ts';
import type { Appended, NewEvent } from './port.ts';

const { path, requestSerialize } = streamsService.StreamsService.read;

/** A call that reads. */
export type Call = ClientReadableStream<Answer>;

/** The client for calls, and the metadata and options that each call carries. */
type Calls = Pick<Line, 'client'> & ReturnType<Server['call']>;

/** A connection to EventStoreDB, until another one takes its place. */
export type Connection = {
  /** Aborts when it was given up. */
  readonly gone: AbortSignal;
  /** For calls of any kind. `leader`: no other node may answer them. */
  calls(leader?: boolean): Promise<Calls>;
  read(request: ReadReq): Promise<Call>;
  /** One try. */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>;
  /** Asks whether the server is there. If not, the connection is given up. */
  suspect(): void;
  /** Tells the connection that an answer has arrived. */
  heard(): void;
};

/**
 * Milliseconds.
 */
export type Times = {
  /** For one answer. */
  readonly answer: number;
  /** The last part of `answer`, for the question whether the server is there. */
  readonly ping: number;
  /** For a new connection. */
  readonly connect: number;
  /** For all tries together. */
  readonly tries: number;
  /** Between two looks at the head. */
  readonly watch: number;
};

export const usualTimes: Times = { answer: 3000, ping: 1000, connect: 1000, tries: 7000, watch: 2000 };

export type Log = (message: string, about: Record<string, unknown>) => void;

const ignore = (): void => undefined;

// Pauses between two connections.
const shortest = 50;
const longest = 500;
// After so many failed connections in a row each one gets more time: the network may be slow.
const patientAfter = 6;
// How long the same message is not logged again.
const quietFor = 60_000;

/** Opens a connection after a pause. */
const connect = (server: Server, times: Times, wait: number, most: number) => {
  const given = new AbortController();
  const gone = given.signal;
  // One for each reader.
  setMaxListeners(0, gone);
  let opened: Line | undefined;
  const line = (async (): Promise<Line> => {
    if (wait > 0) await pause(wait, undefined, { signal: gone, ref: false });
    opened = await openLine(server, most, gone);
    return opened;
  })();
  line.catch(ignore);
  /** Calls wait for the line. */
  const ready = (): Promise<Line> =>
    line.catch((error: unknown) => {
      throw gone.aborted ? new Silence() : new NoConnection(error);
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
    gone,
  );
  // Counts the answers.
  let life = 0;
  return {
    line,
    gone,
    send,
    heard: (): void => {
      life++;
    },
    life: () => life,
    /** False for one that was open and is broken. */
    working: (): boolean => opened?.working() ?? true,
    ping: async (): Promise<void> => opened?.ping(times.ping),
    calls,
    read: async (request: ReadReq): Promise<Call> => {
      const { client, metadata, options } = await calls();
      return client.makeServerStreamRequest(path, requestSerialize, readAnswer, request, metadata, options);
    },
    retire: (): void => {
      given.abort();
      line.then((open) => open.close(), ignore);
    },
  };
};

/**
 * Logs messages, but the same one with the same reason at most once a minute. `what` tells messages apart; it is the
 * message itself unless it is given.
 */
const teller = (server: Server, log: Log) => {
  const told = new Map<string, number>();
  return (message: string, about: Record<string, unknown>, what = message): boolean => {
    const key = `${what} ${String(about.reason)}`;
    const now = Date.now();
    for (const [known, since] of told) if (now - since >= quietFor) told.delete(known);
    if (told.has(key)) return false;
    told.set(key, now);
    const at = { ...about, url: server.shown };
    log(message, server.user === undefined ? at : { ...at, user: server.user });
    return true;
  };
};

type Proposal = Parameters<Connection['append']>;

/** One try of an append. Without an answer in time the connection is suspected. */
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

type Tried = {
  readonly times: Times;
  /** Tells that a try over a connection has failed. */
  readonly failed: (connection: Connection, error: unknown) => void;
  readonly ended: () => boolean;
  /** Why the connection is not up, if it is not. */
  readonly trouble: () => unknown;
};

/** Tries, each after a longer pause, until the time is over without progress. */
const triesOf = ({ times, failed, ended, trouble }: Tried) => {
  let until = Date.now() + times.tries;
  let wait = 25;
  return {
    progress: (): void => {
      until = Date.now() + times.tries;
      wait = 25;
    },
    /** Pauses before the next try, or throws the error for the caller. */
    next: async (connection: Connection, error: unknown): Promise<void> => {
      failed(connection, error);
      const final = finalError(error);
      if (final) throw final;
      if (ended()) throw closed();
      if (Date.now() + wait > until) throw unavailable(trouble() ?? error);
      await pause(wait * (0.5 + Math.random() / 2));
      wait = Math.min(2 * wait, 500);
    },
  };
};

/**
 * The connection to EventStoreDB, one at a time. Another one takes its place when it is broken or silent, or when its
 * node is not the leader.
 */
export const connections = (url: string, times: Times, log: Log) => {
  const server = serverAt(url);
  const tell = teller(server, log);
  let up = false;
  let ended = false;
  // Failed connections in a row.
  let failures = 0;
  let toldDown = false;
  // Why the connection is not up.
  let trouble: unknown;
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
      () => {
        if (opened !== current || ended) return;
        failures = 0;
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
   * Handles the failure of a call. It need not be the connection's fault. A broken connection is replaced, and so is
   * one
   * to a node that is not the leader.
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
    tries: () => triesOf({ times, failed, ended: () => ended, trouble: () => trouble }),
    close: (): void => {
      ended = true;
      up = false;
      current.retire();
    },
  };
};

type Opened = ReturnType<typeof connect> & Connection;

export type Connections = ReturnType<typeof connections>;
