import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Behaviour, speaks } from './sshPeer.ts';

/** It shows the same key in each run, as recorded answers do. */
const hostKey = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz
c2gtZWQyNTUxOQAAACBL9cmulZ6qf/K+B2oujUT/YAGm/5UcvG0ygBbD2isCtgAA
AIh8IZ62fCGetgAAAAtzc2gtZWQyNTUxOQAAACBL9cmulZ6qf/K+B2oujUT/YAGm
/5UcvG0ygBbD2isCtgAAAEBV3yXABfCPDcEORuIFsAKslItE9cmGrrbsgDowq0XH
BEv1ya6Vnqp/8r4Hai6NRP9gAab/lRy8bTKAFsPaKwK2AAAAAAECAwQF
-----END OPENSSH PRIVATE KEY-----
`;

/** A device on 127.0.0.1 that speaks SSH, and an adapter that knows it as `reachable`. */
export const sshDevice = async (shell?: Behaviour['shell']) => {
  const server = createServer(speaks({ hostKey, ...(shell && { shell }) })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    adapter: {
      name: 'reachable',
      type: 'ssh',
      properties: { username: 'netops', password: 'demo-device-password' },
      devices: [{ name: 'reachable', host: '127.0.0.1', port, ostype: 'linux' }],
    },
    close: (): void => {
      server.close();
    },
  };
};
