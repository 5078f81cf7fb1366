import { Type } from 'typebox';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { text, topicsOf, typed } from '../engine/topics.ts';

/** The use of a login is stored once in this time at most. */
export const writtenEveryMs = 60_000;

/** A login ends after this time, however much it is used. */
export const longestMs = 12 * 3_600_000;

/**
 * The stream's id is the keyed digest of the token. `credential` is the tag of the account's credential at this time
 * (projections/authorization/credentials.ts).
 */
const topics = topicsOf({
  loggedIn: ['Somebody logged in', Type.Object({ account: text, credential: text, at: text })],
  loginUsed: ['A login was used', Type.Object({ at: text })],
  loggedOut: ['A login ended', Type.Object({ reason: typed<Reason>()(text) })],
});
export type LoginEvent = EventOf<typeof topics>;

export type Reason = 'logout' | 'replaced' | 'expired';

type State = { readonly exists: boolean; readonly used: string };

export const login = aggregate<State, LoginEvent>({
  area: 'authorization',
  category: 'login',
  topics,
  internal: true,
  initial: { exists: false, used: '' },
  evolve: {
    loggedIn: (_, { at }) => ({ exists: true, used: at }),
    loginUsed: (_, { at }) => ({ exists: true, used: at }),
    loggedOut: ({ used }) => ({ exists: false, used }),
  },
});

/** A login begins once, also after its end: the token of one by a provider may be made again. */
export const logIn = (
  { used }: State,
  { account, credential }: { readonly account: string; readonly credential: string },
  { now }: Context,
): readonly LoginEvent[] => {
  if (used !== '') throw new RequestError('conflict', 'This login has begun before');
  return [{ topic: 'loggedIn', data: { account, credential, at: now } }];
};

export const use = ({ used }: State, _: unknown, { now }: Context): readonly LoginEvent[] =>
  Date.parse(now) - Date.parse(used) < writtenEveryMs ? [] : [{ topic: 'loginUsed', data: { at: now } }];

export const logOut = (_: State, { reason }: { readonly reason: Reason }): readonly LoginEvent[] => [
  { topic: 'loggedOut', data: { reason } },
];
