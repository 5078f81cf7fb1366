import { readFileSync } from 'node:fs';
import {
  CallCredentials,
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import { esdbUrl, logUrl } from '../url.ts';

/** A URL as it may be logged: without user and password. */
export const redacted = (url: string): string => url.replace(/^([a-z+]+:\/\/|esdb[a-z+]*:)?[\s\S]*@/i, '$1***@');

/** The address of EventStoreDB, and the metadata and options of calls. */
export type Server = {
  /** The URL as it may be logged. */
  readonly shown: string;
  readonly user: string | undefined;
  readonly tls: boolean;
  readonly hosts: readonly string[];
  /** True if a node must first be found among several. `preference` is the kind of node that is wanted. */
  readonly cluster: boolean;
  readonly preference: string;
  /**
   * `timeout`: milliseconds for an answer about the members. `interval`: milliseconds between two questions.
   * `attempts`: how many times to ask.
   */
  readonly gossip: { readonly timeout: number; readonly interval: number; readonly attempts: number };
  readonly channel: ChannelOptions;
  /** Credentials for a channel. The certificates are read each time, because they may have changed. */
  secured(): ChannelCredentials;
  /** Metadata and options of a call. With `leader`, only the leader may handle the call. */
  call(leader?: boolean): { readonly metadata: Metadata; readonly options: CallOptions };
};

const forever = 2 ** 31 - 1;

/** Reads the URL of EventStoreDB. Throws an Error without the password when the URL is wrong. */
export const serverAt = (url: string): Server => {
  try {
    logUrl(url);
  } catch (error) {
    throw new Error(`${redacted(url)}: ${(error as Error).message}`);
  }
  const { hosts, discover, user, password, options } = esdbUrl(url);
  const number = (name: string, usual: number): number => Number(options.get(name) ?? usual);
  const milliseconds = (name: string, usual: number): number =>
    number(name, usual) < 0 ? forever : number(name, usual);
  const file = (name: string): Buffer | null => {
    const path = options.get(name);
    return path === undefined ? null : readFileSync(path);
  };
  const tls = options.get('tls') !== 'false';
  const preference = (options.get('nodePreference') ?? 'leader').toLowerCase().replaceAll('_', '');
  const cluster = discover || hosts.length > 1;
  const authorization =
    user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const credentialsOf =
    authorization &&
    CallCredentials.createFromMetadataGenerator((_, callback) => {
      const metadata = new Metadata();
      metadata.set('authorization', authorization);
      callback(null, metadata);
    });
  return {
    shown: redacted(url),
    user,
    tls,
    hosts,
    cluster,
    preference,
    gossip: {
      timeout: 1000 * number('gossipTimeout', 1),
      interval: number('discoveryInterval', 100),
      attempts: number('maxDiscoverAttempts', 10),
    },
    channel: {
      'grpc.keepalive_time_ms': milliseconds('keepAliveInterval', 10_000),
      'grpc.keepalive_timeout_ms': milliseconds('keepAliveTimeout', 10_000),
      // Enough for the largest event that EventStoreDB can hold.
      'grpc.max_receive_message_length': 17 * 1024 * 1024,
      // Without this option, connections to the same address share one channel, even a channel that has stalled.
      'grpc.use_local_subchannel_pool': 1,
      // How many bytes the server may send while this process is busy.
      'grpc-node.flow_control_window': 4 * 1024 * 1024,
    },
    secured: () =>
      tls
        ? credentials.createSsl(file('tlsCAFile'), file('userKeyFile'), file('userCertFile'))
        : credentials.createInsecure(),
    call: (leader = false) => {
      const metadata = new Metadata();
      metadata.set('connection-name', options.get('connectionName') ?? 'automation-platform');
      if (leader && cluster && preference === 'leader') metadata.set('requires-leader', 'true');
      const deadline = Infinity;
      return { metadata, options: credentialsOf ? { deadline, credentials: credentialsOf } : { deadline } };
    },
  };
};
