import { token } from '../../domain/authorization/tokens.ts';
import { idOf, projection } from '../engine/define.ts';
import { ownerGuard } from '../engine/guards.ts';

/** A token as answers show it, with the id of its account. Its digest is in `tokenHashes`. */
export type Token = {
  readonly id: string;
  readonly name: string;
  readonly account: string;
  /** null: all that its account may call. */
  readonly methods: readonly string[] | null;
  /** Ids; null: all that its account sees. */
  readonly inventories: readonly string[] | null;
  readonly created: string;
  readonly expires: string;
  readonly lastUsed: { readonly day: string; readonly address: string } | null;
};

export const tokens = projection<Token>()(token, {
  collection: 'tokens',
  on: {
    tokenCreated: (_, event) => {
      const { name, account, methods = null, inventories = null, expires } = event.data;
      const created = event.metadata.at;
      return { id: idOf(event), name, account, methods, inventories, created, expires, lastUsed: null };
    },
    tokenUsed: (doc, { data: { at, address } }) => doc && { ...doc, lastUsed: { day: at.slice(0, 10), address } },
    tokenDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name },
  guard: ({ account }) => ownerGuard(account),
});

/** All that decides on a caller who sends a token. No route serves this document. */
export type TokenHash = {
  readonly account: string;
  readonly hash: string;
  readonly deactivated: number;
  readonly expires: string;
  readonly methods: readonly string[] | null;
  readonly inventories: readonly string[] | null;
};

export const tokenHashes = projection<TokenHash>()(token, {
  collection: 'tokenHashes',
  on: {
    tokenCreated: (_, { data }) => {
      const { account, hash, deactivated, expires, methods = null, inventories = null } = data;
      return { account, hash, deactivated, expires, methods, inventories };
    },
    tokenUsed: (doc) => doc,
    tokenDeleted: () => undefined,
  },
  beside: true,
  sorts: { name: (doc) => doc.account },
  filters: { account: (doc) => doc.account },
});
