import { Refusal } from '../../domain/engine/refusal.ts';
import type { Principal } from '../authentication/principal.ts';
import type { AppNeeds } from './appNeeds.ts';
import { cookieOf, type Incoming } from './incoming.ts';
import type { Row } from './route.ts';

type Needs = Pick<AppNeeds, 'authenticator' | 'settings' | 'cutOff' | 'mayMeasure'>;

/**
 * Who calls a row; undefined: whoever calls may. No promise when nothing has to be waited for: most requests come from
 * callers who are known.
 */
export const callerOf =
  ({ authenticator, settings, cutOff, mayMeasure }: Needs) =>
  ({ ctx, address }: Incoming, row: Row | undefined): Principal | undefined | Promise<Principal> => {
    const { authorization = '' } = ctx.headers;
    if (row?.access === 'open' || (row?.byMetricsToken && mayMeasure(authorization))) return undefined;
    const credentials = { authorization, cookie: cookieOf(ctx, settings().cookieName), address };
    const known = row?.monitoring && authenticator.lastKnown(credentials);
    if (known) return known;
    // Nor could it hear of a password that was changed on another node.
    if (cutOff()) throw new Refusal('unavailable', 'This node cannot reach the event log', { retryAfterSeconds: 1 });
    return authenticator.authenticate(credentials);
  };
