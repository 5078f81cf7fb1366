import { adminPassword } from './processes.ts';

export type Login = { readonly user: string; readonly password: string };

export const admin: Login = { user: 'admin', password: adminPassword };

/** The `Authorization` header of Basic. */
export const basic = ({ user, password }: Login): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** A request as it goes over the wire. */
export const request = (method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): Buffer => {
  const all = {
    Host: '127.0.0.1',
    ...headers,
    ...(body !== '' && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${body}`,
  );
};

/** A complete answer, its headers without those that the server adds to every answer by itself. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

const ownOfServer = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']);

/** Asks once, as admin unless told otherwise; refuses any status but the expected one. */
export const ask = async (
  url: string,
  method: string,
  path: string,
  {
    login = admin,
    body,
    headers = {},
    status = 200,
  }: {
    readonly login?: Login;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly status?: number;
  } = {},
): Promise<Answer> => {
  const response = await fetch(url + path, {
    method,
    headers: {
      Authorization: basic(login),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !ownOfServer.has(name))),
    body: Buffer.from(await response.arrayBuffer()),
  };
  if (answer.status !== status)
    throw new Error(`${method} ${path}: ${answer.status}, not ${status}\n${answer.body.toString()}`);
  return answer;
};

/** The value of a metric of a service. */
export const metricOf = async (url: string, name: string): Promise<number> => {
  const { body } = await ask(url, 'GET', '/metrics');
  return Number(new RegExp(`^\\S*${name} (\\S+)$`, 'm').exec(body.toString())?.[1]);
};
