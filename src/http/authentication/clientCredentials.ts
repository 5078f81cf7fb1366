import { tokenIdIn } from '../../commands/authorization/tokenTexts.ts';
import type { Node } from '../../node.ts';
import type { apiTokens as apiTokensOf } from './apiTokens.ts';
import type { UserPassword } from './basicLogins.ts';
import type { Known, LoginSettings, Principal } from './principal.ts';
import { LoginRefused } from './refusals.ts';
import type { LoginTokens } from './tokens.ts';

/** A token, and the seconds until it ends. */
export type Granted = { readonly token: string; readonly expiresIn: number };

type Needs = {
  readonly node: Pick<Node, 'clock'>;
  readonly apiTokens: Pick<ReturnType<typeof apiTokensOf>, 'byId'>;
  readonly logins: Pick<LoginTokens, 'start'>;
  readonly settings: () => LoginSettings;
  /** The caller who sends this header. Throws `unauthenticated`. */
  readonly callerOf: (header: {
    readonly authorization: string;
    readonly cookie: undefined;
    readonly address: string;
  }) => Promise<Principal>;
  /** The account with this name and password. Throws `unauthenticated` or `limited`. */
  readonly verify: (credentials: UserPassword, address: string) => Promise<Known>;
};

/**
 * Gives a client a token for a name and a secret. A secret that is a token of the account is its own answer; a password starts a
 * login. A text in the form of a token is no password: it is sent to no directory.
 */
export const clientCredentials = ({ node: { clock }, apiTokens, logins, settings, callerOf, verify }: Needs) => {
  const byToken = async (
    { username, password: token }: UserPassword,
    id: string,
    address: string,
  ): Promise<Granted> => {
    const { actor } = await callerOf({ authorization: `Bearer ${token}`, cookie: undefined, address });
    const entry = await apiTokens.byId(id);
    if (!entry || actor.username !== username.normalize('NFKC'))
      throw new LoginRefused('unauthenticated', 'The token is not one of this account', { account: actor.id });
    return { token, expiresIn: Math.floor((entry.expires - clock.now()) / 1000) };
  };

  return async (credentials: UserPassword, address: string, requestId: string): Promise<Granted> => {
    const id = tokenIdIn(credentials.password);
    if (id !== undefined) return byToken(credentials, id, address);
    if (/^apt_[0-9a-f]{24}_/.test(credentials.password))
      throw new LoginRefused('unauthenticated', 'No such token, or it has ended');
    const { principal, credential } = await verify(credentials, address);
    const token = await logins.start({ actor: principal.actor, credential, requestId });
    return { token, expiresIn: settings().logoutTime * 60 };
  };
};
