import { GossipService, type IGossipServer } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import {
  type IServerFeaturesServer,
  ServerFeaturesService,
} from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { type IStreamsServer, StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { type Authorize, type Call, callerOf, type Rights } from './access.ts';
import { append, deleted, remove, tombstoned } from './append.ts';
import { batchAppend } from './batchAppend.ts';
import { answeringCalls } from './calls.ts';
import { cluster, type Named, supportedMethods } from './discovery.ts';
import { accessDenied, badRequest, type Fault, faultOf } from './faults.ts';
import { foreignWrites } from './foreignWrites.ts';
import { pagesInTurns } from './pagesInTurns.ts';
import type { LogToServe } from './port.ts';
import { read } from './read.ts';
import { subscribe } from './subscribe.ts';
import { writes as writesOf } from './writes.ts';

/** Counts those who read. `check` throws if there is no place for one more; `many`: it may have all places. */
type Places = {
  readonly check: (account: string, many: boolean) => void;
  /** Takes a place, and returns the function that gives it back. */
  readonly take: (account: string) => () => void;
};

export type ServeLog = {
  /** The log. Callers get its events as they are stored. */
  readonly store: LogToServe;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** PEM texts. */
  readonly certificate: { readonly cert: string; readonly key: string };
  /** The name or address that clients get when they discover this server; without it, `host`. */
  readonly advertise?: string;
  /** True for a stream of the platform's own. */
  readonly own: (stream: string) => boolean;
  /** True for a type of events that is kept for the platform's own streams. */
  readonly reserved: (type: string) => boolean;
  /** Methods that clients are told of, besides those of EventStoreDB. */
  readonly methods?: readonly Named[];
  readonly authorize: Authorize;
  readonly places: Places;
  /** For how long a caller may take nothing of what was sent, in milliseconds. */
  readonly takingMs?: number;
  /** Gets what went wrong by a fault of the program. */
  readonly report: (error: unknown) => void;
};

export type ServedLog = { readonly port: number; close(): Promise<void> };

// Clients of EventStoreDB send messages of little more than 3 MiB at most.
const maxMessage = 4 * 1024 * 1024;
const maxCalls = 256;
const sessionMegabytes = 64;
const keepaliveMs = 20_000;
const patienceMs = 2000;

const listen = (server: Server, host: string, port: number, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) =>
    server.bindAsync(`${host.includes(':') ? `[${host}]` : host}:${port}`, credentials, (error, bound) =>
      error
        ? reject(new Error(`The log cannot be served on ${host}:${port}: ${error.message}`, { cause: error }))
        : resolve(bound),
    ),
  );

/**
 * Serves the log by the gRPC protocol of EventStoreDB: Streams, Gossip and ServerFeatures, always over TLS. Only
 * callers that `authorize` accepts get events. Only other nodes of the platform may append to the platform's own
 * streams.
 */
export const serveLog = async ({
  store,
  host,
  port,
  certificate: { cert, key },
  advertise,
  own,
  reserved,
  methods = [],
  authorize,
  places,
  takingMs = 30_000,
  report,
}: ServeLog): Promise<ServedLog> => {
  const calls = answeringCalls({ report, takingMs });
  const inTurns = pagesInTurns();
  const writes = writesOf({ store, own, reserved, foreign: foreignWrites(store) });

  const rightsOf = async (call: Call): Promise<Rights> => (await callerOf(call, authorize)).rights;
  const checkReads = async (rights: Rights): Promise<void> => {
    const may = await rights();
    if (!may('readLog')) throw accessDenied('This account may not read the log');
  };
  const answer = <Response>(
    work: Promise<Response>,
    callback: (fault: Fault | null, response?: Response) => void,
  ): void => {
    work.then(
      (response) => callback(null, response),
      (error: unknown) => callback(faultOf(error, report)),
    );
  };
  const streamsServer: IStreamsServer = {
    read: (call) =>
      calls.answer(call, async (answering) => {
        const options = call.request.getOptions();
        if (!options) throw badRequest('The options are missing');
        const { account, rights } = await callerOf(call, authorize);
        await checkReads(rights);
        // Other nodes follow the log often, and wait for nobody.
        const isNode = (await rights())('writeLog');
        // A program that reads much at once is no stream that stays.
        const many = !options.hasSubscription() || isNode;
        answering.signal.throwIfAborted();
        places.check(account, many);
        answering.signal.addEventListener('abort', places.take(account));
        answering.watch(() => checkReads(rights));
        const readable = { store: isNode ? store : inTurns(store, account), own };
        return (options.hasSubscription() ? subscribe : read)(readable, options, answering);
      }),
    append: (call, callback) =>
      answer(
        rightsOf(call).then((rights) => append(call, rights, writes)),
        callback,
      ),
    batchAppend: (call) =>
      calls.answer(call, async (answering) => {
        const rights = await rightsOf(call);
        answering.watch(async () => void (await rights()));
        return batchAppend(call, answering, { rights, writes, report });
      }),
    delete: (call, callback) =>
      answer(
        rightsOf(call)
          .then((rights) => remove(call.request, rights, writes, false))
          .then(deleted),
        callback,
      ),
    tombstone: (call, callback) =>
      answer(
        rightsOf(call)
          .then((rights) => remove(call.request, rights, writes, true))
          .then(tombstoned),
        callback,
      ),
  };

  const server = new Server({
    'grpc.max_receive_message_length': maxMessage,
    'grpc.max_concurrent_streams': maxCalls,
    'grpc-node.max_session_memory': sessionMegabytes,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs,
  });
  const credentials = ServerCredentials.createSsl(
    null,
    [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }],
    false,
  );
  server.addService(StreamsService, streamsServer);
  server.addService(ServerFeaturesService, {
    getSupportedMethods: (_call, callback) => callback(null, supportedMethods(methods)),
  } satisfies IServerFeaturesServer);
  server.addService(GossipService, {
    read: (_call, callback) => callback(null, cluster(store.id, { host: advertise ?? host, port: bound })),
  } satisfies IGossipServer);
  const bound = await listen(server, host, port, credentials);

  const close = async (): Promise<void> => {
    calls.stop();
    const finished = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    // A caller that does not read its answers would keep the server open, so the wait is limited.
    const patience = setTimeout(() => server.forceShutdown(), patienceMs);
    await finished;
    clearTimeout(patience);
  };
  let closed: Promise<void> | undefined;
  return { port: bound, close: () => (closed ??= close()) };
};
