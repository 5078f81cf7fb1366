import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { type Code, RequestError } from '../../domain/engine/requestError.ts';
import { LoginRefused } from '../authentication/basicLogins.ts';
import { answering } from './answer.ts';
import type { AppNeeds } from './appNeeds.ts';
import { corsHeaders } from './cors.ts';
import { deadline } from './deadline.ts';
import { internal } from './errors.ts';
import { refused } from './fixedAnswers.ts';
import { type Incoming, incomingOf } from './incoming.ts';
import type { Outgoing } from './outgoing.ts';
import { send } from './send.ts';

/** Makes the HTTP listener from the routes. */
export const app = (needs: AppNeeds): RequestListener => {
  const { settings, addressOf, isSecret, stopping, logBug, observe, recorder } = needs;
  const answer = answering(needs);
  const within = deadline(logBug);

  const koa = new WithoutRespond().use(async (ctx) => {
    const start = performance.now();
    const address = addressOf(ctx);
    const incoming = incomingOf(ctx, address, () => isSecret(ctx));
    const { requestId } = incoming;
    const { cors, cacheControl, timeout } = settings();
    const headers = headersOf(requestId, corsHeaders(cors, ctx.req.headers.origin));
    let outgoing: Outgoing;
    try {
      const work = answer(incoming);
      outgoing = await (timeout > 0 && !incoming.untimed ? within(timeout, work, requestId) : work);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code === 'internal') logBug(error, requestId);
      const failure = error instanceof RequestError ? error : internal(requestId);
      if (denials.has(failure.code)) recorder.denied(denialOf(incoming, failure));
      outgoing = refused(failure);
    }
    if (cacheControl && outgoing.headers?.['Cache-Control'] === undefined) headers.push('Cache-Control', 'no-cache');
    if (stopping() && outgoing.headers?.Connection === undefined) headers.push('Connection', 'close');
    const sending = send(ctx, outgoing, headers);
    const status = typeof sending === 'number' ? sending : await sending;
    const { exported, inClear = [] } = outgoing;
    if (exported && status === 200) recorder.exported({ ...whoOf(incoming), resource: exported });
    for (const resource of inClear) recorder.secretsHandedOut({ ...whoOf(incoming), resource });
    observe({
      requestId,
      address: incoming.address,
      method: ctx.req.method ?? '',
      path: incoming.path,
      area: incoming.area,
      operation: incoming.operation,
      user: incoming.principal?.actor.username,
      traceparent: incoming.traceparent,
      status,
      milliseconds: performance.now() - start,
    });
  });
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // Readers of streams break connections off. That is no fault of anybody.
    if (error.syscall === undefined) logBug(error, '');
  });
  return koa.callback();
};

/** Koa that only calls the one middleware, which answers by itself. Koa's own end of a request costs time. */
class WithoutRespond extends Koa {
  handleRequest(ctx: Koa.Context, fn: (ctx: Koa.Context) => Promise<void>): Promise<void> {
    return fn(ctx).catch(ctx.onerror);
  }
}

/** The codes that audits record. */
const denials: ReadonlySet<Code> = new Set<Code>(['unauthenticated', 'forbidden', 'limited']);

const whoOf = ({ principal, address, operation }: Incoming) => ({
  account: principal?.actor.id ?? null,
  address,
  operation,
});

const denialOf = (incoming: Incoming, error: RequestError) => {
  const { account, address } = whoOf(incoming);
  const meant = error instanceof LoginRefused ? error.account : undefined;
  return { account: account ?? meant ?? null, address, operation: incoming.asked ?? null, code: error.code };
};

/** The headers of every answer in Node's flat form: name, value, name, value. */
const headersOf = (requestId: string, cors: readonly string[]): string[] => [
  'X-Request-Id',
  requestId,
  ...cors,
  'X-Content-Type-Options',
  'nosniff',
];
