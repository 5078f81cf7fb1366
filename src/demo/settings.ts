import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** This port, or the next one that is free. */
const freeFrom = async (port: number, host: string): Promise<number> => {
  const probe = createServer().listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && port < 65_535) return freeFrom(port + 1, host);
    // The start says it in its own words.
    return port;
  }
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return found;
};

const usualPort = 3000;

/**
 * The environment of a demo. Its defaults are such that a demo runs beside another one: ports that are free, and
 * a folder for each port.
 */
export const demoSettings = async (env: NodeJS.ProcessEnv) => {
  const servesItsLog = !env.EVENTSTORE_URL?.startsWith('esdb');
  const port = env.PORT || String(await freeFrom(usualPort, env.HOST || '127.0.0.1'));
  return {
    ...(servesItsLog &&
      env.ESDB_PORT === undefined && { ESDB_PORT: String(await freeFrom(2113, env.ESDB_HOST || '127.0.0.1')) }),
    ...env,
    PORT: port,
    DATA_DIR: env.DATA_DIR || (port === String(usualPort) ? 'data/demo' : `data/demo-${port}`),
    RETENTION_DAYS: env.RETENTION_DAYS || '365', // its history is older than what is usually shown
    ADMIN_PASSWORD: env.ADMIN_PASSWORD || 'demo-password',
  };
};
