import { type Static, Type } from 'typebox';
import { type Actor, aggregate, type Context, type EventOf } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { nothing, text, texts, topicsOf, whole } from '../engine/topics.ts';

/** The use of a token is stored once in this time at most. */
export const storedEveryMs = 3_600_000;

const dayMs = 24 * 3_600_000;
const usualDays = 90;
const mostDays = 366;
/** How many tokens in force an account has at most. */
const mostTokens = 100;

/** The body of `createToken`. */
export const newTokenSchema = Type.Object(
  {
    name: name('Name to know it by'),
    account: Type.Optional(name('The service account that it is for, by id or name; only admins say so')),
    expires: Type.Optional(
      Type.String({
        description: `When it ends; in ${usualDays} days if not set, in ${mostDays} days at most`,
        format: 'date-time',
      }),
    ),
    methods: Type.Optional(
      Type.Array(name('Name of a method, as getMethods lists it'), {
        description: 'The only methods that it may call; all that its account may call if not set',
        minItems: 1,
        maxItems: 1000,
      }),
    ),
    inventories: Type.Optional(
      Type.Array(name('Id or name of an inventory'), {
        description:
          'The only inventories, and so devices, that are there for it; all that its account sees if not set',
        minItems: 1,
        maxItems: 1000,
      }),
    ),
  },
  { additionalProperties: false, title: 'NewToken', description: 'New token' },
);
export type NewToken = Static<typeof newTokenSchema>;

/**
 * `hash` is the digest of the token's text. `deactivated` is how often its account had been deactivated: once more, and
 * the token has ended. Without `methods` it may call all that its account may call, and
 * without `inventories` (ids) it sees all inventories and adapters that its account sees.
 */
const topics = topicsOf({
  tokenCreated: [
    'A token was made',
    Type.Object({
      name: text,
      account: text,
      hash: text,
      deactivated: whole,
      expires: text,
      methods: Type.Optional(texts),
      inventories: Type.Optional(texts),
    }),
  ],
  tokenUsed: ['A token was used', Type.Object({ at: text, address: text })],
  tokenDeleted: ['A token was ended', nothing],
});
export type TokenEvent = EventOf<typeof topics>;

type Use = { readonly at: string; readonly address: string };
type State = {
  readonly exists: boolean;
  readonly account: string;
  /** They bind a job that it has started, also after its end. */
  readonly inventories?: readonly string[] | undefined;
  readonly used: Use | undefined;
};

export const token = aggregate<State, TokenEvent>({
  area: 'authorization',
  category: 'token',
  topics,
  initial: { exists: false, account: '', used: undefined },
  evolve: {
    tokenCreated: (_, { account, inventories }) => ({ exists: true, account, inventories, used: undefined }),
    tokenUsed: (state, used) => ({ ...state, used }),
    tokenDeleted: (state) => ({ ...state, exists: false }),
  },
});

/** The actor who sees only these inventories and their devices. */
export const withinInventories = (actor: Actor, inventories: readonly string[]): Actor => ({
  ...actor,
  only: { inventory: inventories, adapter: [] },
});

/** The account that a new token is for; undefined if there is none. */
export type TokenRefs = {
  readonly account: { readonly id: string; readonly isService: boolean; readonly deactivated: number } | undefined;
  readonly unknownMethods: readonly string[];
  /** The ids of the inventories that it names; undefined: none that the actor sees. */
  readonly inventories: readonly (string | undefined)[] | undefined;
  /** How many tokens of the account are in force. */
  readonly inForce: number;
  /** The digest of its text. */
  readonly hash: string;
};

const expiryOf = (expires: string | undefined, now: string): string => {
  const at = Date.parse(now);
  if (expires === undefined) return new Date(at + usualDays * dayMs).toISOString();
  const end = Date.parse(expires);
  if (!(end > at && end <= at + mostDays * dayMs))
    throw new RequestError('invalid', `expires must be in the future, and in ${mostDays} days at most`, {
      path: '/expires',
    });
  return new Date(end).toISOString();
};

export const create = (
  _: State,
  { name, account: service, expires, methods, inventories: names = [] }: NewToken,
  { now, actor, refs: { account, unknownMethods, inventories, inForce, hash } }: Context<TokenRefs>,
): readonly TokenEvent[] => {
  // It would outlive the access token of an issuer, and so the issuer's word.
  if (actor.token !== undefined || actor.via === 'oidc')
    throw new RequestError('forbidden', 'A token makes no token, and neither does an access token of an issuer');
  if (service !== undefined && !actor.admin)
    throw new RequestError('forbidden', 'Only admins make tokens of service accounts', { path: '/account' });
  const end = expiryOf(expires, now);
  if (!account) throw new RequestError('not_found', 'No account has this id or name', { path: '/account' });
  if (unknownMethods.length > 0)
    throw new RequestError('not_found', `No such methods: ${unknownMethods.join(', ')}`, { path: '/methods' });
  if (!account.isService && account.id !== actor.id)
    throw new RequestError('conflict', "A person's tokens are made by that person alone", { path: '/account' });
  const unknown = names.filter((_, i) => inventories?.[i] === undefined);
  if (unknown.length > 0)
    throw new RequestError('not_found', `No such inventories: ${unknown.join(', ')}`, { path: '/inventories' });
  if (inForce >= mostTokens)
    throw new RequestError('conflict', `The account has ${mostTokens} tokens: end those that nobody uses`);
  const { id, deactivated } = account;
  const only = {
    methods: methods && [...new Set(methods)],
    inventories: inventories && [...new Set(inventories.filter((one) => one !== undefined))],
  };
  const data = { name, account: id, hash, expires: end, deactivated, ...defined(only) };
  return [{ topic: 'tokenCreated', data }];
};

const dayOf = (at: string): string => at.slice(0, 10);

/** Last uses are shown by day and address. So another one is stored only if one of them differs, and not within the hour. */
export const use = (
  { used }: State,
  { address }: { readonly address: string },
  { now }: Context,
): readonly TokenEvent[] => {
  const isSoon = used && Date.parse(now) - Date.parse(used.at) < storedEveryMs;
  const isSame = used && used.address === address && dayOf(used.at) === dayOf(now);
  return isSoon || isSame ? [] : [{ topic: 'tokenUsed', data: { at: now, address } }];
};

export const remove = ({ account }: State, _: unknown, { actor }: Context): readonly TokenEvent[] => {
  if (account !== actor.id && !actor.admin) throw new RequestError('not_found', 'No such token');
  return [{ topic: 'tokenDeleted', data: {} }];
};
