import { TooLong, textOf, wordsIn } from '@automation-platform/client';
import { exactValue, isObject } from '@automation-platform/json';
import { enterPassword } from './password.ts';

/** A request. `body` is JSON text. */
type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Who calls which platform. */
export type Access = { readonly url: string; readonly username: string; readonly password: string };

/** An answer: its status, and its body with the marks of packages/json. */
type ApiAnswer = { readonly status: number; readonly body: unknown };

export type Platform = { readonly url: string; readonly ask: (request: ApiRequest) => Promise<ApiAnswer> };

/** The `Authorization` header by which the account calls. */
const authorizationOf = ({ username, password }: Access): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** The password in the environment variable, else it is asked for. */
export const passwordFrom = async (variable: string, prompt: string): Promise<string> => {
  const password = process.env[variable] ?? (await enterPassword(prompt, process.stdin, process.stderr));
  if (password === '') throw new Error(`There is no password: set ${variable}`);
  return password;
};

/** Who asks the running service, and with which password. `$PORT` in the URL is the setting. */
export const accessFrom = async ({ url, user }: { readonly url: string; readonly user: string }): Promise<Access> => {
  const at = url.replace('$PORT', process.env.PORT || '3000');
  const password = await passwordFrom('AUTOMATION_PLATFORM_PASSWORD', `Password of ${user} at ${at}: `);
  return { url: at, username: user, password };
};

/** The message of an answer that is a refusal. */
export const messageOf = (body: unknown, status: number): string =>
  isObject(body) && typeof body.message === 'string' ? wordsIn(body.message) : `status ${status}`;

/** The answer is not what a platform answers. */
export const noAnswer = ({ url }: Pick<Access, 'url'>): Error => new Error(`${url} answers what is no answer to this`);

const mostTries = 5;

/** Calls a platform over HTTP. Asks again after 429 and 503, as long as Retry-After says, and when nobody answers. */
export const platformAt = (access: Access, signal: AbortSignal): Platform => {
  const base = access.url.replace(/\/+$/, '');
  const authorization = authorizationOf(access);

  const once = async ({
    method,
    path,
    body,
    headers,
  }: ApiRequest): Promise<ApiAnswer | { readonly retryAfter: number }> => {
    const response = await fetch(base + path, {
      method,
      signal,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await textOf(response);
    if (response.status === 429 || response.status === 503)
      return { retryAfter: Number(response.headers.get('retry-after') ?? 1) };
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, body: isJson && text !== '' ? exactValue(text) : text };
  };

  const ask = async (request: ApiRequest): Promise<ApiAnswer> => {
    let fault: unknown;
    for (let tried = 1; tried <= mostTries; tried++) {
      const answer = await once(request).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof TooLong) throw error;
        fault = error;
        return { retryAfter: tried };
      });
      if ('status' in answer) return answer;
      if (tried < mostTries) await waited(Math.min(answer.retryAfter, 30), signal);
    }
    throw new Error(`${base} does not answer: ${reasonOf(fault)}`);
  };
  return { url: base, ask };
};

const reasonOf = (fault: unknown): string => {
  if (!(fault instanceof Error)) return 'it is busy';
  return fault.cause instanceof Error ? fault.cause.message : fault.message;
};

const waited = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
