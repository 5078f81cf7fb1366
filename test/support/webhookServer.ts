import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Called = {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: any;
  readonly text: string;
  readonly request: IncomingMessage;
}; // what the service sent

export type Behave = (response: ServerResponse, called: Called) => void;

/**
 * An agent on 127.0.0.1 that behaves as its path says; `called` counts on, `next` waits for the call after those seen.
 */
export const webhookServer = async (paths: Readonly<Record<string, Behave>>) => {
  const called: Called[] = [];
  let wake = () => undefined as void;
  let seen = 0;
  const server = createServer((request, response) => {
    let text = '';
    request
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        text += chunk;
      })
      .on('error', () => undefined)
      .on('end', () => {
        const call = { url: request.url!, headers: request.headers, body: JSON.parse(text), text, request };
        called.push(call);
        wake();
        paths[call.url]?.(response, call);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    called,
    url: (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    next: async (): Promise<Called> => {
      while (called.length <= seen)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return called[seen++]!;
    },
    close: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Answers 200 with JSON. */
export const says =
  (body: unknown): Behave =>
  (response) =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
