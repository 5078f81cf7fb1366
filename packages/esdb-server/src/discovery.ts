import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { uuidOf } from './messages.ts';

/** The version of EventStoreDB whose protocol this server speaks. */
const protocolVersion = '24.2.0';

/** A method of a service, in lower case as EventStoreDB has them. */
export type Named = { readonly service: string; readonly method: string };

/** ServerFeatures: the methods of Streams, and further ones. */
export const supportedMethods = (others: readonly Named[]): SupportedMethods => {
  const ofStreams = Object.values(StreamsService).map(({ path }) => {
    const [, service = '', method = ''] = (path as string).toLowerCase().split('/');
    return { service, method };
  });
  const named = [...ofStreams, ...others].map(({ service, method }) =>
    new features.SupportedMethod().setServiceName(service).setMethodName(method),
  );
  return new features.SupportedMethods().setEventStoreServerVersion(protocolVersion).setMethodsList(named);
};

/** Gossip: this server is the only member and the leader. */
export const cluster = (id: string, { host, port }: { readonly host: string; readonly port: number }): ClusterInfo =>
  new gossip.ClusterInfo().setMembersList([
    new gossip.MemberInfo()
      .setInstanceId(uuidOf(id))
      .setTimeStamp(String(BigInt(Date.now()) * 10_000n))
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port)),
  ]);
