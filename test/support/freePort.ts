import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that the system gives to connections: one of these may be taken before it is listened on.
const lowest = 15_000;
const highest = 32_000;

/** A port of the loopback that nobody listens on just now. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    const probe = createServer();
    try {
      await once(probe.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
};
