import { withinTime } from '@automation-platform/client';
import { Busy, semaphore } from '@automation-platform/concurrency';
import { blockList, within } from './addresses.ts';
import { reasonOf, Unexpected } from './failure.ts';
import { httpCall } from './httpCall.ts';
import type { Outbound } from './outbound.ts';

const maxBytes = 1024 * 1024;
const mostAtOnce = 32;
const mostWaiting = 1_000;
const loopback = blockList(['127.0.0.0/8', '::1']);

/** The issuer has given no answer within its time and bounds. The message says why. */
export class IssuerSilent extends Error {}

type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** Without TLS, ways out lead to loopback alone. */
const guardFor = (guard: Outbound, url: string): Outbound => {
  if (!url.startsWith('http:')) return guard;
  return {
    addresses: async (host) => {
      const addresses = (await guard.addresses(host)).filter(({ address }) => within(loopback, address));
      if (addresses.length === 0) throw new Unexpected('a connection without TLS leads to loopback only');
      return addresses;
    },
  };
};

const bodyOf = (body: unknown): string | undefined =>
  body instanceof URLSearchParams || typeof body === 'string' ? body.toString() : undefined;

/**
 * Makes functions like `fetch` that call issuers, within bounds: at most 32 calls at once for each. They follow no
 * redirect. Throws `IssuerSilent` for every answer that an issuer gives only when it cannot answer.
 */
export const issuerFetch = (guard: Outbound) => {
  const inTurn = semaphore(mostAtOnce, mostWaiting);
  return (provider: string, timeoutMs: number) =>
    async (url: string, { method, headers, body }: Sent): Promise<Response> => {
      try {
        const { status, type, text } = await withinTime(timeoutMs, [], (signal) =>
          inTurn(provider, signal, () =>
            httpCall(guardFor(guard, url), { method, url, headers, text: bodyOf(body), signal, maxBytes }),
          ),
        );
        if (status < 200 || (status >= 300 && status < 400) || status >= 500)
          throw new Unexpected(`the issuer answers with status ${status}`);
        return new Response(text === '' ? null : text, { status, headers: { 'Content-Type': type } });
      } catch (error) {
        const { origin, pathname } = new URL(url);
        throw new IssuerSilent(
          `${origin}${pathname}: ${error instanceof Busy ? 'too many calls wait' : reasonOf(error)}`,
        );
      }
    };
};
