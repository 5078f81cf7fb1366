import { UnavailableError } from '@eventstore/db-client';
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Channel, connectivityState, type ServiceError, status } from '@grpc/grpc-js';
import { serverLeads } from '../leads.ts';
import { discover } from './discovery.ts';
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

/** Whether an error is an answer of the node itself. */
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
          heard();
          if (!error) leads = serverLeads(methods);
          if (!error || isAnswer(error)) return resolve();
          const known = toError(error, 'ask');
          reject(known instanceof UnavailableError ? known : new Silence(`${host} does not answer within ${ms} ms`));
        });
        const heard = unheard(ms, () => call.cancel());
      }),
    close: () => channel.close(),
  };
};

/** Finds a node and connects to it. Throws when the node does not answer within `ms`, or when `gone` aborts. */
export const openLine = async (server: Server, ms: number, gone: AbortSignal): Promise<Line> => {
  // A connection string names at least one host.
  const host = server.cluster ? await discover(server, server.secured(), gone) : server.hosts[0]!;
  gone.throwIfAborted();
  const line = lineTo(host, server);
  try {
    await line.ping(ms);
    gone.throwIfAborted();
    return line;
  } catch (error) {
    line.close();
    throw error;
  }
};
