import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

type Where = { readonly host: string; readonly port: number; readonly tls?: { readonly certFile: string; readonly keyFile: string } };

/** A server that listens. `stop` takes no new connections, waits for answers under way, and cuts what is left after `ms`. */
export const listen = async ({ host, port, tls }: Where, listener: RequestListener): Promise<{ url: string; stop: (ms: number) => Promise<void> }> => {
  const server: Server = tls ? createTlsServer({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, listener) : createServer(listener);
  server.listen(port, host);
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    stop: async (ms) => {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), ms);
      await closed;
      clearTimeout(cut);
    },
  };
};
