import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/**
 * For the tests of the `describe` that calls it: a server on 127.0.0.1 that treats each connection as `behave` was last
 * told to. After each test the service must have closed its connections; the test waits for that.
 */
export const peer = () => {
  let server: Server;
  let behaviour: (socket: Socket) => void;
  const open = new Set<Socket>();
  before(async () => {
    server = createServer((socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket)).on('error', () => undefined);
      behaviour(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  afterEach('no connection is left', async () => {
    // One that is not read would not learn of its end.
    for (const socket of open) socket.resume();
    while (open.size > 0) await new Promise(setImmediate);
  });
  return {
    port: (): number => (server.address() as AddressInfo).port,
    behave: (how: (socket: Socket) => void): void => {
      behaviour = how;
    },
  };
};
