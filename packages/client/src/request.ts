import { type Auth, loginHeaders } from './auth.ts';

/** The platform, and how to log in there. A page of the platform has no `auth`: its cookie logs it in. */
export type Platform = {
  readonly url: string;
  readonly auth?: Auth | undefined;
  readonly signal?: AbortSignal | undefined;
};

type Request = {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly headers?: object | undefined;
  readonly body?: unknown;
};

/** The pairs of a query. A list gives its name several times, an object gives `name[member]`. */
const pairsOf = (name: string, value: unknown): readonly (readonly [string, string])[] => {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => pairsOf(name, one));
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).flatMap(([member, one]) => pairsOf(`${name}[${member}]`, one));
};

const headersOf = (headers: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );

/** Sends one request, and returns its answer whatever that is. */
export const send = (
  { url, auth, signal }: Platform,
  { method, path, query = {}, headers = {}, body }: Request,
): Promise<Response> => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query).flatMap((entry) => pairsOf(...entry)))
    parameters.append(name, value);
  const address = `${url.replace(/\/+$/, '')}${path}`;
  const request: RequestInit = { method, headers: { ...loginHeaders(auth), ...headersOf(headers) } };
  if (signal) request.signal = signal;
  if (body !== undefined) {
    request.body = JSON.stringify(body);
    request.headers = { ...request.headers, 'Content-Type': 'application/json' };
  }
  return fetch(parameters.size > 0 ? `${address}?${parameters}` : address, request);
};
