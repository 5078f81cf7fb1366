import { setTimeout as pause } from 'node:timers/promises';
import { UnavailableError } from '@eventstore/db-client';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type { MemberInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Channel, type ChannelCredentials, connectivityState, type ServiceError, status } from '@grpc/grpc-js';
import { serverLeads } from '../leads.ts';
import { Silence, toError } from './errors.ts';
import { unheard } from './patience.ts';
import type { Server } from './url.ts';

/** A channel to one node, over which the node has answered. */
export type Line = {
  readonly client: InstanceType<typeof streamsService.StreamsClient>;
  /** False when the channel is broken. */
  working(): boolean;
  /** True if the node is a process of the platform, which leads. */
  leads(): boolean;
  /** Makes a cheap call. Throws when there is no answer in time. */
  ping(ms: number): Promise<void>;
  close(): void;
};

/** True if an error is an answer of the node itself. */
const isAnswer = ({ code }: ServiceError): boolean => code !== status.UNAVAILABLE && code !== status.CANCELLED;

const lineTo = (host: string, server: Server): Line => {
  const secured = server.secured();
  const channel = new Channel(host, secured, server.channel);
  const over = { channelOverride: channel };
  const features = new ServerFeaturesClient(host, secured, over);
  let leads = false;
  return {
    leads: () => leads,
    client: new streamsService.StreamsClient(host, secured, over),
    working: () => channel.getConnectivityState(false) === connectivityState.READY,
    ping: (ms) =>
      new Promise((resolve, reject) => {
        const { metadata, options } = server.call();
        const call = features.getSupportedMethods(new shared.Empty(), metadata, options, (error, methods) => {
          noteAnswer();
          if (!error) leads = serverLeads(methods);
          if (!error || isAnswer(error)) return resolve();
          const storeError = toError(error, 'ask');
          reject(
            storeError instanceof UnavailableError
              ? storeError
              : new Silence(`${host} does not answer within ${ms} ms`),
          );
        });
        const noteAnswer = unheard(ms, () => call.cancel());
      }),
    close: () => channel.close(),
  };
};

/** Finds a node and connects to it. Throws when the node does not answer within `ms`, or when `closing` aborts. */
export const openLine = async (server: Server, ms: number, closing: AbortSignal): Promise<Line> => {
  // A connection string names at least one host.
  const host = server.cluster ? await discover(server, server.secured(), closing) : server.hosts[0]!;
  closing.throwIfAborted();
  const line = lineTo(host, server);
  try {
    await line.ping(ms);
    closing.throwIfAborted();
    return line;
  } catch (error) {
    line.close();
    throw error;
  }
};

const { VNodeState: states } = gossip.MemberInfo;

const replicas: readonly number[] = [states.READONLYREPLICA, states.PREREADONLYREPLICA, states.READONLYLEADERLESS];
const any: readonly number[] = [states.LEADER, states.FOLLOWER, ...replicas];
const preferred: ReadonlyMap<string, readonly number[]> = new Map([
  ['leader', [states.LEADER]],
  ['follower', [states.FOLLOWER]],
  ['readonlyreplica', replicas],
  ['random', any],
]);

/** The members of the cluster as one node knows them. */
const membersAt = async (
  host: string,
  { gossip: { timeout }, call }: Server,
  credentials: ChannelCredentials,
): Promise<readonly MemberInfo[]> => {
  const client = new GossipClient(host, credentials, { 'grpc.use_local_subchannel_pool': 1 });
  const { metadata } = call();
  try {
    return await new Promise((resolve, reject) => {
      client.read(new shared.Empty(), metadata, { deadline: Date.now() + timeout }, (error, info) =>
        error ? reject(error) : resolve(info.getMembersList()),
      );
    });
  } catch (error) {
    throw toError(error, 'read the members of the cluster');
  } finally {
    client.close();
  }
};

const choose = (members: readonly MemberInfo[], order: readonly number[]): string | undefined => {
  const good = members.filter(
    (member) => member.getIsAlive() && order.includes(member.getState()) && member.getHttpEndPoint(),
  );
  const place = good[Math.floor(Math.random() * good.length)]?.getHttpEndPoint();
  return place && `${place.getAddress()}:${place.getPort()}`;
};

/**
 * Asks all nodes at once. The first answer with a wanted member decides (`found`). After the first answer, the other
 * nodes have a moment more. If no answer has a wanted member, `other` is any member that can be read.
 */
const ask = (
  server: Server,
  credentials: ChannelCredentials,
): Promise<{ readonly found?: string; readonly other?: string }> =>
  new Promise((resolve, reject) => {
    let hostsLeft = server.hosts.length;
    let moment: NodeJS.Timeout | undefined;
    let other: string | undefined;
    let failure: unknown;
    const enough = (): void => resolve(other === undefined ? {} : { other });
    for (const host of server.hosts) {
      void membersAt(host, server, credentials)
        .then(
          (members) => {
            moment ??= setTimeout(enough, server.gossip.interval);
            const found = choose(members, preferred.get(server.preference) ?? any);
            other ??= choose(members, any);
            if (found !== undefined) resolve({ found });
          },
          (error: unknown) => {
            failure ??= error;
          },
        )
        .finally(() => {
          hostsLeft--;
          if (hostsLeft > 0) return;
          clearTimeout(moment);
          if (moment) enough();
          else reject(failure);
        });
    }
  });

/**
 * Finds the node to connect to: one that the URL prefers. If the last attempt finds none, any node that can be read.
 */
const discover = async (server: Server, credentials: ChannelCredentials, closing: AbortSignal): Promise<string> => {
  const { interval, attempts } = server.gossip;
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= attempts;
    const { found, other } = await ask(server, credentials).catch((error: unknown) => {
      if (last) throw error;
      return { found: undefined, other: undefined };
    });
    closing.throwIfAborted();
    if (found !== undefined) return found;
    if (last && other !== undefined) return other;
    if (last) throw new Error('No node says of itself or others that it can be asked');
    await pause(interval, undefined, { signal: closing });
  }
};
