import { readFileSync } from 'node:fs';
import { type Auth, authorizationOf, TooLong, textOf, wordsIn } from '@automation-platform/client';
import { exactValue, isObject } from '@automation-platform/json';
import { defined } from '../domain/engine/defined.ts';
import { option, optionOr } from './engine/command.ts';
import { enterPassword } from './password.ts';

/** A request. `body` is JSON text. */
type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The caller, and the platform that is called. */
export type Access = { readonly url: string; readonly auth: Auth };

/** An answer: its status, and its body with the marks of packages/json. */
type ApiAnswer = { readonly status: number; readonly body: unknown };

export type Platform = { readonly url: string; readonly ask: (request: ApiRequest) => Promise<ApiAnswer> };

/** The password in the environment variable, else it is asked for. */
export const passwordFrom = async (variable: string, prompt: string): Promise<string> => {
  const password = process.env[variable] ?? (await enterPassword(prompt, process.stdin, process.stderr));
  if (password === '') throw new Error(`There is no password: set ${variable}`);
  return password;
};

/** The options that say who asks which service. */
type Asking = { readonly url: string; readonly user: string; readonly tokenFile?: string | undefined };

/** The token in the file, else in API_TOKEN; undefined if there is neither. */
const tokenFrom = (file: string | undefined): string | undefined => {
  const token = file === undefined ? process.env.API_TOKEN : readFileSync(file, 'utf8').trim();
  if (file !== undefined && token === '') throw new Error(`There is no token in ${file}`);
  return token || undefined;
};

/** True if `accessFrom` asks for a password, on a terminal or on standard input. */
export const asksPassword = ({ tokenFile }: Pick<Asking, 'tokenFile'>): boolean =>
  process.env.AUTOMATION_PLATFORM_PASSWORD === undefined && tokenFrom(tokenFile) === undefined;

/** The way to ask the running service: with a token if there is one, else with a password. `$PORT` in the URL is the setting. */
export const accessFrom = async ({ url, user, tokenFile }: Asking): Promise<Access> => {
  const at = url.replace('$PORT', process.env.PORT || '3000');
  const token = tokenFrom(tokenFile);
  if (token !== undefined) return { url: at, auth: { token } };
  const password = await passwordFrom('AUTOMATION_PLATFORM_PASSWORD', `Password of ${user} at ${at}: `);
  return { url: at, auth: { username: user, password } };
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
  const authorization = authorizationOf(access.auth);

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
      ...defined({ body }),
    });
    const text = await textOf(response);
    if (response.status === 429 || response.status === 503)
      return { retryAfter: Number(response.headers.get('retry-after') ?? 1) };
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, body: isJson && text !== '' ? exactValue(text) : text };
  };

  const ask = async (request: ApiRequest): Promise<ApiAnswer> => {
    let fault: unknown;
    for (let attempt = 1; attempt <= mostTries; attempt++) {
      const answer = await once(request).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof TooLong) throw error;
        fault = error;
        return { retryAfter: attempt };
      });
      if ('status' in answer) return answer;
      if (attempt < mostTries) await wait(Math.min(answer.retryAfter, 30), signal);
    }
    throw new Error(`${base} does not answer: ${reasonOf(fault)}`);
  };
  return { url: base, ask };
};

const reasonOf = (fault: unknown): string => {
  if (!(fault instanceof Error)) return 'it is busy';
  return fault.cause instanceof Error ? fault.cause.message : fault.message;
};

const wait = (seconds: number, signal: AbortSignal): Promise<void> =>
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

const urlFault = (text: string): string | undefined =>
  URL.canParse(text.replace('$PORT', '1')) ? undefined : 'It is no URL such as http://127.0.0.1:3000.';

/** The options of a command that asks the running service. */
export const askOptions = {
  url: { ...optionOr('<url>', 'the running service', 'http://127.0.0.1:$PORT'), fault: urlFault },
  tokenFile: option('<file>', 'the file with the token to ask with; without it API_TOKEN, if that is set'),
  user: optionOr('<name>', 'the account to ask with by its password, if there is no token', 'admin'),
};

/** A sentence for the help of a command that asks the running service. */
export const askHelp = 'A password comes from AUTOMATION_PLATFORM_PASSWORD, or is asked for.';
