import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

type Behaviour = (socket: Socket) => void;

/** A server on 127.0.0.1 that treats each connection as `behave` was last told to. */
export const listeningPeer = async () => {
  let behaviour: Behaviour;
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    behaviour(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    behave: (how: Behaviour): void => {
      behaviour = how;
    },
    /** Resolves once no connection is left. */
    idle: async (): Promise<void> => {
      // One that is not read would not learn of its end.
      for (const socket of open) socket.resume();
      while (open.size > 0) await new Promise(setImmediate);
    },
    close: (): void => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
};

/**
 * For the tests of the `describe` that calls it: such a server. After each test the service must have closed its connections;
 * the test waits for that.
 */
export const peer = () => {
  let server: Awaited<ReturnType<typeof listeningPeer>>;
  before(async () => {
    server = await listeningPeer();
  });
  after(() => server.close());
  afterEach('no connection is left', () => server.idle());
  return { port: (): number => server.port, behave: (how: Behaviour): void => server.behave(how) };
};
