import assert from 'node:assert/strict';
import { createProvider } from '../../../src/commands/authorization/providers.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { TokenRefused } from '../../../src/southbound/openId.ts';
import type { LoginAtIssuer, OpenId } from '../../../src/southbound/port.ts';
import { defaults, fixedClock, nodesOnLog, type TestNode } from '../../support/node.ts';

const minute = 60_000;
const never = () => assert.fail('It is not asked');

describe('logins of browsers, by the clock', () => {
  let clock: ReturnType<typeof fixedClock>;
  let settings = defaults;
  let one: TestNode;
  /** An issuer that vouches for Anna if the browser comes back with the state of its login. */
  const openId: OpenId = {
    probe: never,
    verify: never,
    loginUrl: async (_, { state }) => `https://issuer.example.net/?${state}`,
    redeem: async (_, { state }: LoginAtIssuer, query) => {
      if (query !== state) throw new TokenRefused('another state');
      return { sub: 'id of anna', preferred_username: 'anna' };
    },
  };
  const { node } = nodesOnLog({ now: () => clock.now(), settings: () => settings, openId });

  beforeEach(async () => {
    [clock, settings] = [fixedClock(), defaults];
    one = await node();
    await one.bootstrap();
    await one.command(createProvider, 'corp', {
      name: 'corp',
      type: 'oidc',
      properties: {
        issuer: 'https://issuer.example.net',
        clientId: 'platform',
        redirectUri: 'https://here.example.net/authorization/oidc/corp/callback',
      },
    });
  });

  const begin = async () => {
    const { location, cookie } = await one.auth.browsers.begin('corp', '/');
    return { query: new URL(location).search.slice(1), cookies: cookie.split(';')[0]!, requestId: 'r' };
  };
  const finish = async (request: Awaited<ReturnType<typeof begin>>, on = one) =>
    (await on.auth.browsers.finish('corp', request)).token;
  const call = async (token: string) =>
    one.auth.authenticate({ authorization: `Bearer ${token}`, cookie: undefined, address: '' });
  const refused = (work: Promise<unknown>) =>
    assert.rejects(work, (error) => error instanceof RequestError && error.code === 'unauthenticated');

  for (const seconds of [300, 20])
    it(`come back within relayStateTimeout, here ${seconds} s`, async () => {
      settings = { ...defaults, relayStateTimeout: seconds };
      const [soon, late] = [await begin(), await begin()];
      clock.pass(seconds * 1000);
      await finish(soon);
      clock.pass(1);
      await refused(finish(late));
    });

  it('come back once, on whichever node', async () => {
    const [two, request] = [await node(), await begin()];
    const outcomes = await Promise.allSettled([finish(request), finish(request, two), finish(request)]);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  it('end after logoutTime without use, and not while they are used', async () => {
    settings = { ...defaults, logoutTime: 10 };
    const token = await finish(await begin());
    for (let n = 0; n < 5; n++) {
      clock.pass(9 * minute);
      await call(token);
    }
    clock.pass(10 * minute + 1);
    await refused(call(token));
  });

  it('end the others of the account with uniqueSession', async () => {
    const first = await finish(await begin());
    await call(first);
    settings = { ...defaults, uniqueSession: true };
    const second = await finish(await begin());
    await refused(call(first));
    await call(second);
  });
});
