import { RequestError } from '../../domain/engine/requestError.ts';
import type { Principal } from '../authentication/principal.ts';
import type { AppNeeds } from './appNeeds.ts';
import { cookieOf, type Incoming } from './incoming.ts';
import type { Route } from './route.ts';

type Needs = Pick<AppNeeds, 'authenticator' | 'settings' | 'cutOff' | 'mayMeasure'>;

/**
 * Finds the caller of a route; undefined if the route needs none. An open route needs one for an earlier time. It returns no promise when it need not wait, because
 * most callers are known already.
 */
export const callerOf =
  ({ authenticator, settings, cutOff, mayMeasure }: Needs) =>
  (
    { ctx, address }: Incoming,
    route: Route | undefined,
    isPast: boolean,
  ): Principal | undefined | Promise<Principal> => {
    const { authorization = '' } = ctx.req.headers;
    if ((route?.access === 'open' && !isPast) || (route?.byMetricsToken && mayMeasure(authorization))) return undefined;
    const credentials = { authorization, cookie: cookieOf(ctx, settings().cookieName), address };
    const known = route?.monitoring && authenticator.lastKnown(credentials);
    if (known) return known;
    // A node that is cut off would not learn that a password was changed on another node.
    if (cutOff())
      throw new RequestError('unavailable', 'This node cannot reach the event log', { retryAfterSeconds: 1 });
    return authenticator.authenticate(credentials);
  };
