import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A way to a TCP port of the loopback that can be troubled. `silence`: the connections of now carry nothing ever again,
 * without being closed, as when a peer has vanished. `stall`: those of now and new ones carry nothing until `resume`;
 * then what was sent meanwhile arrives after all. `cut`: those of now break, and new ones at once, until `resume`.
 */
export const openProxy = async (target: number) => {
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  let state: 'open' | 'stalled' | 'cut' = 'open';

  const join = ([near, far]: readonly [Socket, Socket]): void => {
    near.pipe(far).pipe(near);
  };
  const part = ([near, far]: readonly [Socket, Socket]): void => {
    for (const socket of [near, far]) socket.unpipe().pause();
  };
  const destroy = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };

  const server = createServer({ noDelay: true }, (near) => {
    connections++;
    const pair = [near, connect({ port: target, host: '127.0.0.1', noDelay: true })] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket
        .on('error', () => undefined)
        .on('close', () => {
          pairs.delete(pair);
          for (const each of pair) each.destroy();
        });
    }
    if (state === 'cut') for (const socket of pair) socket.destroy();
    else if (state === 'open') join(pair);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    /** How many there have been. */
    connections: () => connections,
    silence: (): void => {
      pairs.forEach(part);
    },
    stall: (): void => {
      state = 'stalled';
      pairs.forEach(part);
    },
    cut: (): void => {
      state = 'cut';
      destroy();
    },
    resume: (): void => {
      if (state === 'stalled') pairs.forEach(join);
      state = 'open';
    },
    close: async (): Promise<void> => {
      destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};

export type Proxy = Awaited<ReturnType<typeof openProxy>>;
