import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import streamsService, { type IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials, type ServiceError, status } from '@grpc/grpc-js';

export type { IStreamsServer };

/** A failure as gRPC sends it. */
export const failure = (code: status, details = status[code]): Partial<ServiceError> => ({ code, details });

const unsupported = (call: unknown, callback?: (error: Partial<ServiceError>) => void): void => {
  const error = failure(status.UNIMPLEMENTED);
  if (callback) callback(error);
  else (call as { emit(event: string, error: unknown): void }).emit('error', error);
};

type Options = {
  readonly port?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
  /**
   * Port of the node that leads, as this one tells; undefined while none does. Without it no question about members is
   * answered.
   */
  readonly leader?: () => number | undefined;
};

const members = (self: number, leader: number | undefined) => {
  const state = gossip.MemberInfo.VNodeState;
  const member = (port: number, is: gossip.MemberInfo.VNodeState) =>
    new gossip.MemberInfo()
      .setIsAlive(true)
      .setState(is)
      .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port));
  return new gossip.ClusterInfo().setMembersList([
    ...(leader === self ? [] : [member(self, state.FOLLOWER)]),
    ...(leader === undefined ? [] : [member(leader, state.LEADER)]),
  ]);
};

/** A server of EventStoreDB's protocol that does what the handlers do, and nothing else. */
export const scriptedEventStore = async (
  handlers: Partial<IStreamsServer>,
  { port: wanted = 0, tls, leader }: Options = {},
) => {
  const server = new Server();
  let asked = 0;
  const rest = {
    read: unsupported,
    append: unsupported,
    batchAppend: unsupported,
    delete: unsupported,
    tombstone: unsupported,
  };
  server.addService(streamsService.StreamsService, { ...rest, ...handlers } as unknown as IStreamsServer); // a service that knows less
  server.addService(featuresService.ServerFeaturesService, {
    getSupportedMethods: (_: unknown, callback: (error: null, methods: unknown) => void) => {
      asked++;
      const methods = new features.SupportedMethods().setEventStoreServerVersion('24.10.0');
      methods.addMethods(
        new features.SupportedMethod()
          .setMethodName('batchappend')
          .setServiceName('event_store.client.streams.streams'),
      );
      callback(null, methods);
    },
  });
  if (leader)
    server.addService(gossipService.GossipService, {
      read: (_: unknown, callback: (error: null, info: unknown) => void) => callback(null, members(port, leader())),
    });
  const credentials = tls
    ? ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }])
    : ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${wanted}`, credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return {
    port,
    url: `esdb://127.0.0.1:${port}${tls ? '' : '?tls=false'}`,
    /** How often somebody has asked whether it is there: once for each connection, and when one is suspected. */
    asked: () => asked,
    /** Ends at once, all connections with it. */
    stop: () => server.forceShutdown(),
  };
};
