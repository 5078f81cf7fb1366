import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A directory on 127.0.0.1 that lets everybody bind and has nobody. */
export const emptyDirectory = async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // Each message comes alone, as its sender waits for the answer: its id has one byte, its operation follows.
    socket.on('data', (message) => {
      const at = message.indexOf(Buffer.from([2, 1])) + 2;
      const [id = 0, operation = 0] = message.subarray(at);
      socket.write(
        Buffer.from([0x30, 12, 2, 1, id, operation === 0x63 ? 0x65 : operation + 1, 7, 10, 1, 0, 4, 0, 4, 0]),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: (): void => {
      server.close();
    },
  };
};
