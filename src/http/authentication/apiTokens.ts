import { randomUUID } from 'node:crypto';
import { useToken } from '../../commands/authorization/tokens.ts';
import { lruCache } from '../../concurrency/lruCache.ts';
import { storedEveryMs, tokenHash, tokenIdIn } from '../../domain/authorization/tokens.ts';
import type { Node } from '../../node.ts';
import { type TokenHash, tokenHashes } from '../../projections/authorization/tokens.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { type Known, narrowed, type Principal } from './principal.ts';
import { holder } from './tokens.ts';

/** A token in memory; times in milliseconds. `principal` is its caller, made of `known`. */
export type HeldToken = {
  readonly id: string;
  readonly account: string;
  readonly hash: string;
  readonly deactivated: number;
  readonly expires: number;
  readonly methods: ReadonlySet<string> | undefined;
  /** When its use was last passed on to be stored by this node. */
  noted: number;
  known: Known | undefined;
  principal: Principal | undefined;
};

const heldOf = (id: string, { account, hash, deactivated, expires, methods }: TokenHash): HeldToken => ({
  id,
  account,
  hash,
  deactivated,
  expires: Date.parse(expires),
  methods: methods ? new Set(methods) : undefined,
  noted: -Infinity,
  known: undefined,
  principal: undefined,
});

/** The place of the id in a token's text. */
const idAt = [4, 28] as const;

/**
 * Keeps the tokens of scripts, workers and services by their ids. Only a digest of a token is stored. A token ends on its
 * date, with its account, and when it is deleted.
 */
export const apiTokens = ({ model, settled, head, handle, clock: { now } }: Node) => {
  const cache = lruCache<HeldToken>(20_000);
  // If this number changes during a read, the token that was read may have ended.
  let ended = 0;

  const inForce = (held: HeldToken | undefined): HeldToken | undefined =>
    held && held.expires > now() ? held : undefined;

  const read = async (id: string): Promise<TokenHash | undefined> => {
    await settled();
    const found = await documentOf(model, tokenHashes, id);
    if (found) return found;
    // Another node may have made it just now.
    await settled(await head());
    return documentOf(model, tokenHashes, id);
  };

  const loadById = async (id: string): Promise<HeldToken | undefined> => {
    const before = ended;
    const found = await read(id);
    if (!found) return undefined;
    const held = cache.get(id) ?? heldOf(id, found);
    if (before === ended) cache.set(id, held);
    return inForce(held);
  };

  return {
    /** The token from memory; does not wait. */
    fromCache: (token: string): HeldToken | undefined => {
      const held = inForce(cache.get(token.slice(...idAt)));
      return held?.hash === tokenHash(token) ? held : undefined;
    },
    /** The token; undefined if it is unknown or has ended. One with a typing error costs no look-up. */
    load: async (token: string): Promise<HeldToken | undefined> => {
      const id = tokenIdIn(token);
      const held = id === undefined ? undefined : await loadById(id);
      return held?.hash === tokenHash(token) ? held : undefined;
    },
    /** The token with this id. */
    byId: async (id: string): Promise<HeldToken | undefined> => inForce(cache.get(id)) ?? loadById(id),
    /** The caller who sends a token of this account. */
    callerBy: (held: HeldToken, known: Known): Principal => {
      if (held.principal && held.known === known) return held.principal;
      held.known = known;
      held.principal = narrowed(known.principal, held);
      return held.principal;
    },
    /** Notes that the token is used from this address. */
    noteUse: (held: HeldToken, address: string): void => {
      if (now() - held.noted < storedEveryMs) return;
      held.noted = now();
      const { id, account } = held;
      const [requestId, operation] = [randomUUID(), useToken.name];
      handle(useToken, { id, input: { address }, actor: holder(account), operation, requestId }).catch(() => undefined);
    },
    onEvent: ({ stream, topic }: Pick<Recorded, 'stream' | 'topic'>): void => {
      const { category, id } = splitStream(stream);
      if (category !== 'token' || topic !== 'tokenDeleted') return;
      ended++;
      cache.delete(id);
    },
  };
};
