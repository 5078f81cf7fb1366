import { logIn, login, logOut, use } from '../../../src/domain/authorization/logins.ts';
import { context, specification } from '../../support/given.ts';

const given = specification(login);
const at = (milliseconds: number) => new Date(Date.parse(context.now) + milliseconds).toISOString();
const begun = (milliseconds: number) =>
  ({ topic: 'loggedIn', data: { account: 'a', credential: 'c', at: at(milliseconds) } }) as const;

describe('logins', () => {
  it('know account and password, never the token', () =>
    given().when(logIn, { account: 'a', credential: 'c' }).then(begun(0)));
  it('write down a use', () =>
    given(begun(-60_000))
      .when(use, {})
      .then({ topic: 'loginUsed', data: { at: at(0) } }));
  it('write down a use once a minute at most', () => {
    given(begun(-59_999)).when(use, {}).thenNothing();
    given(begun(-3_600_000), { topic: 'loginUsed', data: { at: at(-59_999) } })
      .when(use, {})
      .thenNothing();
  });
  it('end', () =>
    given(begun(0))
      .when(logOut, { reason: 'logout' } as const)
      .then({ topic: 'loggedOut', data: { reason: 'logout' } }));
});
