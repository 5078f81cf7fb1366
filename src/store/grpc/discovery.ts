import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { uuidOf } from './messages.ts';

/** The version of EventStoreDB whose protocol this server speaks. */
const protocolVersion = '24.2.0';

/** Stands among the methods: other nodes of the platform see by it that the process of this log leads. */
const leads = { service: 'automation-platform.log', method: 'leads' } as const;

/** ServerFeatures: the methods of Streams, in lower case as EventStoreDB has them, and `leads`. */
export const supportedMethods = (): SupportedMethods =>
  new features.SupportedMethods().setEventStoreServerVersion(protocolVersion).setMethodsList([
    ...Object.values(StreamsService).map(({ path }) => {
      const [, service = '', method = ''] = (path as string).toLowerCase().split('/');
      return new features.SupportedMethod().setServiceName(service).setMethodName(method);
    }),
    new features.SupportedMethod().setServiceName(leads.service).setMethodName(leads.method),
  ]);

/** True if a server says that it is a process of the platform, which leads. */
export const serverLeads = (methods: SupportedMethods): boolean =>
  methods
    .getMethodsList()
    .some((one) => one.getServiceName() === leads.service && one.getMethodName() === leads.method);

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
