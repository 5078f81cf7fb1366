import { request as plain } from 'node:http';
import { request as overTls } from 'node:https';
import { adminPassword, basic, type Login } from './service.ts';

/** One frame of a stream of server-sent events. A comment has only `comment`. */
export type Frame = { readonly id?: string; readonly event?: string; readonly data?: any; readonly comment?: string }; // any JSON

const frameOf = (text: string): Frame => {
  const frame: Record<string, unknown> = {};
  for (const line of text.split('\n')) {
    if (line.startsWith(':')) frame.comment = line.slice(1).trim();
    const [, name, value] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (name) frame[name] = name === 'data' ? JSON.parse(value!) : value;
  }
  return frame;
};

/**
 * Opens the stream of events, or another one. `frames` are what has come so far, without comments; `all` with them. `pause` takes
 * nothing more from the socket, until `resume`.
 */
export const openStream = (
  url: string,
  query = '',
  {
    login = { user: 'admin', password: adminPassword },
    headers = {},
    method = 'GET',
    path = '/operations-manager/events/stream',
  }: { login?: Login; headers?: Record<string, string>; method?: string; path?: string } = {},
) =>
  new Promise<{
    status: number;
    headers: Record<string, string | string[] | undefined>;
    frames: Frame[];
    all: Frame[];
    text: () => string;
    ended: () => boolean;
    pause: () => void;
    resume: () => void;
    close: () => void;
  }>((resolve, reject) => {
    const request = url.startsWith('https:') ? overTls : plain;
    const asking = request(
      url + path + query,
      { method, headers: { Authorization: basic(login), ...headers }, agent: false, rejectUnauthorized: false },
      (answer) => {
        const [frames, all]: [Frame[], Frame[]] = [[], []];
        let rest = '';
        let ended = false;
        answer.setEncoding('utf8').on('data', (text: string) => {
          const parts = (rest + text).split('\n\n');
          rest = parts.pop()!;
          for (const part of parts) {
            const frame = frameOf(part);
            all.push(frame);
            if (frame.comment === undefined) frames.push(frame);
          }
        });
        answer.on('close', () => {
          ended = true;
        });
        answer.on('error', () => undefined);
        resolve({
          status: answer.statusCode!,
          headers: answer.headers,
          frames,
          all,
          text: () => rest,
          ended: () => ended,
          pause: () => void answer.socket.pause(),
          resume: () => void answer.socket.resume(),
          close: () => asking.destroy(),
        });
      },
    );
    asking.on('error', reject).end();
  });

export type Stream = Awaited<ReturnType<typeof openStream>>;
