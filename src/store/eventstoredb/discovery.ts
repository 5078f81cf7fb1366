import { setTimeout as pause } from 'node:timers/promises';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip, { type MemberInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { toError } from './errors.ts';
import type { Server } from './url.ts';

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

const choose = (members: readonly MemberInfo[], wanted: readonly number[]): string | undefined => {
  const good = members.filter(
    (member) => member.getIsAlive() && wanted.includes(member.getState()) && member.getHttpEndPoint(),
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
    let left = server.hosts.length;
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
          left--;
          if (left > 0) return;
          clearTimeout(moment);
          if (moment) enough();
          else reject(failure);
        });
    }
  });

/**
 * Finds the node to connect to: one that the URL prefers. If the last attempt finds none, any node that can be read.
 */
export const discover = async (server: Server, credentials: ChannelCredentials, gone: AbortSignal): Promise<string> => {
  const { interval, attempts } = server.gossip;
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= attempts;
    const { found, other } = await ask(server, credentials).catch((error: unknown) => {
      if (last) throw error;
      return { found: undefined, other: undefined };
    });
    gone.throwIfAborted();
    if (found !== undefined) return found;
    if (last && other !== undefined) return other;
    if (last) throw new Error('No node says of itself or others that it can be asked');
    await pause(interval, undefined, { signal: gone });
  }
};
