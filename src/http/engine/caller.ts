import { RequestError } from '../../domain/engine/requestError.ts';
import type { Principal } from '../authentication/principal.ts';
import type { AppNeeds } from './appNeeds.ts';
import { cookieOf, type Incoming } from './incoming.ts';
import type { Route } from './route.ts';

type Needs = Pick<AppNeeds, 'authenticator' | 'settings' | 'cutOff' | 'mayMeasure'>;

/**
 * Who calls a route; undefined: whoever calls may. No promise when nothing has to be waited for: most requests come
 * from callers who are known.
 */
export const callerOf =
  ({ authenticator, settings, cutOff, mayMeasure }: Needs) =>
  ({ ctx, address }: Incoming, route: Route | undefined): Principal | undefined | Promise<Principal> => {
    const { authorization = '' } = ctx.headers;
    if (route?.access === 'open' || (route?.byMetricsToken && mayMeasure(authorization))) return undefined;
    const credentials = { authorization, cookie: cookieOf(ctx, settings().cookieName), address };
    const known = route?.monitoring && authenticator.lastKnown(credentials);
    if (known) return known;
    // Nor could it hear of a password that was changed on another node.
    if (cutOff())
      throw new RequestError('unavailable', 'This node cannot reach the event log', { retryAfterSeconds: 1 });
    return authenticator.authenticate(credentials);
  };
