import { connect } from 'node:net';

const patienceMs = 1000;

/** True if a server accepts connections at a host and port. */
export const listens = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: patienceMs });
    const answer = (taken: boolean) => () => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', answer(true)).once('timeout', answer(false)).once('error', answer(false));
  });
