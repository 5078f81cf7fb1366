import { hash as digest } from 'node:crypto';
import { mutex } from '@automation-platform/concurrency';
import type { Name } from '../../domain/engine/core.ts';
import { claimLapsed, type NameState, nameKey } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { type About, appendOne, type One } from './appendOne.ts';
import { claimChecker, NameTaken } from './claimChecks.ts';
import type { Streams } from './streams.ts';

/** A name, and the stream that wants to bear it. */
export type Wanted = { readonly owner: string; readonly name: Name };

/** The stream that decides whether the claims hold, and the metadata of their events. */
type Deciding = { readonly stream: string; readonly about: About };

const attempts = 10;

/** The name of the stream that holds all claims on a name. */
export const claimsOn = (name: Name): string => `name-${digest('sha256', nameKey(name), 'hex')}`;

/**
 * Unique names, on a store that appends to one stream at a time.
 * The claims on a name have a stream of their own. A claim holds while its deciding stream shows that the owner has the
 * name. The deciding stream is the owner's stream, or the stream of an intent.
 * A claim that does not hold yet may belong to a slow writer. To take the name over, a command first appends
 * `claimLapsed` to the deciding stream, at the revision that it has read. The slow writer's append then fails. Only
 * after that the command claims the name. This needs no clock and no cleaning.
 */
export const nameClaims = (store: EventStore, streams: Streams) => {
  const exclusively = mutex();
  const check = claimChecker(streams);

  const sourceOf = (stream: string): string => `@platform/${streams.kindOf(stream).aggregate.area}`;

  /** Returns false, and stores nothing, if another writer was faster. */
  const append = async (one: One): Promise<boolean> => {
    try {
      await appendOne(store, one);
      return true;
    } catch (error) {
      if (error instanceof WrongRevision) return false;
      throw error;
    }
  };

  /** Tries once to claim a name. Returns false if another writer was faster. */
  const tryClaim = async ({ name, owner }: Wanted, { stream: decidedBy, about }: Deciding): Promise<boolean> => {
    const stream = claimsOn(name);
    const claims = await streams.refresh(stream);
    const { claim } = claims.state as NameState;
    if (claim) {
      const { holds, decided } = await check(claim, name);
      const mine = claim.owner === owner;
      const again = mine && claim.decidedBy === decidedBy;
      // A promise of an intent to this owner is as good as a claim. A claim by the owner's own stream is not: the owner
      // may still give up that name.
      if (holds && mine && (again || claim.decidedBy !== owner)) return true;
      // An own claim that does not hold yet is made again: another command may have let it lapse and be about to claim.
      if (!again && !(holds && mine)) {
        if (holds) throw new NameTaken(name);
        const other = claim.decidedBy;
        const source = sourceOf(other);
        const lapsed = await append({ stream: other, at: decided, source, event: claimLapsed(name), about });
        if (!lapsed) return false;
      }
    }
    const event = { topic: 'nameClaimed', data: { ...name, owner, decidedBy } };
    return append({ stream, at: claims, source: sourceOf(owner), event, about });
  };

  const claim = async (claiming: Wanted, deciding: Deciding): Promise<void> => {
    for (let attempt = 0; attempt < attempts; attempt++) if (await tryClaim(claiming, deciding)) return;
    throw new RequestError('unavailable', 'Too many writers want this name; nothing was stored', {
      retryAfterSeconds: 1,
    });
  };

  return {
    /**
     * Throws `conflict` if another owner has one of the names. A command calls this before it claims the first of
     * several names: claims are events, and a rejected command must store none.
     */
    refuseTaken: async (names: readonly Wanted[]): Promise<void> => {
      for (const { owner, name } of names) {
        const { claim } = (await streams.refresh(claimsOn(name))).state as NameState;
        if (claim && claim.owner !== owner && (await check(claim, name)).holds) throw new NameTaken(name);
      }
    },
    /**
     * Claims the names, then does the work that makes the claims hold. Within this node, one writer at a time has a
     * name.
     */
    claiming: <T>(names: readonly Wanted[], deciding: Deciding, work: () => Promise<T>): Promise<T> => {
      // Always the same order, so that two such calls cannot wait for each other.
      const inOrder = names
        .map((claiming) => ({ ...claiming, key: nameKey(claiming.name) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      const next = (i: number): Promise<T> => {
        const nameClaim = inOrder[i];
        if (!nameClaim) return work();
        return exclusively(nameClaim.key, async () => {
          await claim(nameClaim, deciding);
          return next(i + 1);
        });
      };
      return next(0);
    },
    /**
     * Notes that a request called a resource by a name that the resource does not claim. So a retry of the request
     * finds the resource even after the resource has lost the name (retries.ts).
     */
    note: async (name: Name, { stream: owner, about }: Deciding): Promise<void> => {
      const stream = claimsOn(name);
      const event = { topic: 'nameClaimed', data: { ...name, owner, decidedBy: owner } };
      for (let attempt = 0; attempt < attempts; attempt++) {
        const streamNow = await streams.refresh(stream);
        if ((streamNow.state as NameState).bearers[0] === owner) return;
        if (await append({ stream, at: streamNow, source: sourceOf(owner), event, about })) return;
      }
      throw new RequestError('unavailable', 'Too many requests for this name; nothing was stored', {
        retryAfterSeconds: 1,
      });
    },
  };
};

export type NameClaims = ReturnType<typeof nameClaims>;
