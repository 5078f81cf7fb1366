import { exactValue } from '../../domain/engine/exactJson.ts';
import type { ApiRequest } from './kinds.ts';

/** Who calls which platform. */
export type Access = { readonly url: string; readonly username: string; readonly password: string };

/** An answer: its status, and its body with the marks of domain/engine/exactJson.ts. */
type ApiAnswer = { readonly status: number; readonly body: unknown };

export type Platform = { readonly url: string; readonly ask: (request: ApiRequest) => Promise<ApiAnswer> };

const mostTries = 5;

/** Calls a platform over HTTP. Asks again after 429 and 503, as long as Retry-After says, and when nobody answers. */
export const platformAt = ({ url, username, password }: Access, signal: AbortSignal): Platform => {
  const base = url.replace(/\/+$/, '');
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  const once = async ({ method, path, body }: ApiRequest): Promise<ApiAnswer | { readonly retryAfter: number }> => {
    const response = await fetch(base + path, {
      method,
      signal,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
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
