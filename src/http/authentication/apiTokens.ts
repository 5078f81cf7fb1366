import { randomUUID } from 'node:crypto';
import { lruCache } from '@automation-platform/concurrency';
import { useToken } from '../../commands/authorization/tokens.ts';
import { tokenHash, tokenIdIn } from '../../commands/authorization/tokenTexts.ts';
import { storedEveryMs } from '../../domain/authorization/tokens.ts';
import type { Node } from '../../node.ts';
import { type TokenHash, tokenHashes } from '../../projections/authorization/tokens.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { callerOf, type Known, limitedTo, type Principal } from './principal.ts';
import { holder } from './tokens.ts';

/** A token in memory; times in milliseconds. */
export type TokenEntry = {
  readonly id: string;
  readonly account: string;
  readonly hash: string;
  readonly deactivated: number;
  readonly expires: number;
  /** The caller who sends the token of this account. */
  readonly callerBy: (owner: Known) => Principal;
  /** When its use was last passed on to be stored by this node. */
  storedAt: number;
};

const entryOf = (id: string, stored: TokenHash, now: () => number): TokenEntry => {
  const { account, hash, deactivated } = stored;
  const expires = Date.parse(stored.expires);
  const methods = stored.methods ? new Set(stored.methods) : undefined;
  const limits = { id, methods, inventories: stored.inventories ?? undefined };
  const callerBy = callerOf((owner) => ({ ...limitedTo(owner, limits), hasEnded: () => expires <= now() }));
  return { id, account, hash, deactivated, expires, callerBy, storedAt: -Infinity };
};

/** The place of the id in a token's text. */
const idAt = [4, 28] as const;

/**
 * Keeps the tokens of scripts, workers and services by their ids. Only a digest of a token is stored. A token ends on its
 * date, with its account, and when it is deleted.
 */
export const apiTokens = ({ model, settled, head, handle, clock: { now } }: Node) => {
  const cache = lruCache<TokenEntry>(20_000);
  // If this number changes during a read, the token that was read may have ended.
  let endings = 0;

  const inForce = (entry: TokenEntry | undefined): TokenEntry | undefined =>
    entry && entry.expires > now() ? entry : undefined;

  const read = async (id: string): Promise<TokenHash | undefined> => {
    await settled();
    const doc = await documentOf(model, tokenHashes, id);
    if (doc) return doc;
    // Another node may have made it just now.
    await settled(await head());
    return documentOf(model, tokenHashes, id);
  };

  const loadById = async (id: string): Promise<TokenEntry | undefined> => {
    const before = endings;
    const doc = await read(id);
    if (!doc) return undefined;
    const entry = cache.get(id) ?? entryOf(id, doc, now);
    if (before === endings) cache.set(id, entry);
    return inForce(entry);
  };

  return {
    /** The token from memory; does not wait. */
    fromCache: (token: string): TokenEntry | undefined => {
      const entry = inForce(cache.get(token.slice(...idAt)));
      return entry?.hash === tokenHash(token) ? entry : undefined;
    },
    /** The token; undefined if it is unknown or has ended. One with a typing error costs no look-up. */
    load: async (token: string): Promise<TokenEntry | undefined> => {
      const id = tokenIdIn(token);
      const entry = id === undefined ? undefined : await loadById(id);
      return entry?.hash === tokenHash(token) ? entry : undefined;
    },
    /** The token with this id. */
    byId: async (id: string): Promise<TokenEntry | undefined> => inForce(cache.get(id)) ?? loadById(id),
    /** Notes that the token is used from this address. */
    noteUse: (entry: TokenEntry, address: string): void => {
      if (now() - entry.storedAt < storedEveryMs) return;
      entry.storedAt = now();
      const { id, account } = entry;
      const [requestId, operation] = [randomUUID(), useToken.name];
      handle(useToken, { id, input: { address }, actor: holder(account), operation, requestId }).catch(() => undefined);
    },
    onEvent: ({ stream, topic }: Pick<Recorded, 'stream' | 'topic'>): void => {
      if (topic !== 'tokenDeleted') return;
      endings++;
      cache.delete(splitStream(stream).id);
    },
  };
};
