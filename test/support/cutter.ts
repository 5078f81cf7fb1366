import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A way to a TCP port of the loopback on which each connection breaks off after a number of bytes of the answers.
 * `budget` says how many the next connection has; Infinity: it never breaks.
 */
export const openCutter = async (target: number, budget: () => number) => {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
    let left = budget();
    for (const socket of [near, far]) {
      open.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
    near.pipe(far);
    far.on('data', (bytes) => {
      if (bytes.length < left) {
        left -= bytes.length;
        near.write(bytes);
      } else if (left > 0) {
        cuts++;
        // What was written before the end of a connection arrives all the same.
        near.end(bytes.subarray(0, left));
        left = 0;
        far.destroy();
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    close: async (): Promise<void> => {
      for (const socket of open) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};
