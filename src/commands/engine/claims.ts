import { hash as digest } from 'node:crypto';
import { mutex } from '../../concurrency/mutex.ts';
import type { Name } from '../../domain/engine/core.ts';
import { claimLapsed, type NameState } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { type About, appendOne, type One } from './appendOne.ts';
import { claimChecker, taken } from './claimChecks.ts';
import type { Streams } from './streams.ts';

/** A name, and the stream that is to bear it. */
export type Wanted = { readonly owner: string; readonly name: Name };

/** The stream that decides whether claims hold, and what their events say of their cause. */
type Deciding = { readonly stream: string; readonly about: About };

const attempts = 10;

/** The stream of the claims on a name. */
export const claimsOn = ({ kind, parent = '', name }: Name): string =>
  `name-${digest('sha256', JSON.stringify([kind, parent, name]), 'hex')}`;

/**
 * Unique names on a store that appends to one stream at a time. A name's claims are a stream of their own; a claim
 * holds while the stream that decides it shows the owner with that name. Taking over one that does not hold first
 * closes that deciding stream to its slow writer (`claimLapsed` at the revision read), then claims: no clocks, no
 * sweeper.
 */
export const nameClaims = (store: EventStore, streams: Streams) => {
  const exclusively = mutex();
  const check = claimChecker(streams);

  const sourceOf = (stream: string): string => `@platform/${streams.kindOf(stream).aggregate.area}`;

  /** False: somebody else was faster, and nothing is stored. */
  const append = async (one: One): Promise<boolean> => {
    try {
      await appendOne(store, one);
      return true;
    } catch (error) {
      if (error instanceof WrongRevision) return false;
      throw error;
    }
  };

  /** One attempt to claim; false: somebody else was faster. */
  const tryClaim = async ({ name, owner }: Wanted, { stream: decidedBy, about }: Deciding): Promise<boolean> => {
    const stream = claimsOn(name);
    const claims = await streams.refresh(stream);
    const { claim } = claims.state as NameState;
    if (claim) {
      const { holds, decided } = await check(claim, name);
      const mine = claim.owner === owner;
      const again = mine && claim.decidedBy === decidedBy;
      // What an intent has promised to the owner is as good as a claim of its own; the owner's own name it may still
      // give up.
      if (holds && mine && (again || claim.decidedBy !== owner)) return true;
      // One of its own that does not hold yet is made anew: somebody may have let it lapse and be about to claim.
      if (!again && !(holds && mine)) {
        if (holds) throw taken(name);
        const other = claim.decidedBy;
        const source = sourceOf(other);
        const lapsed = await append({ stream: other, at: decided, source, event: claimLapsed(name), about });
        if (!lapsed) return false;
      }
    }
    const event = { topic: 'nameClaimed', data: { ...name, owner, decidedBy } };
    return append({ stream, at: claims, source: sourceOf(owner), event, about });
  };

  const claim = async (wanted: Wanted, deciding: Deciding): Promise<void> => {
    for (let tried = 0; tried < attempts; tried++) if (await tryClaim(wanted, deciding)) return;
    throw new RequestError('unavailable', 'Too many writers want this name; nothing was stored', {
      retryAfterSeconds: 1,
    });
  };

  return {
    /**
     * Throws `conflict` if another owner has one of the names. A claim is an event: what is refused so has stored
     * nothing.
     */
    refuseTaken: async (names: readonly Wanted[]): Promise<void> => {
      for (const { owner, name } of names) {
        const { claim } = (await streams.refresh(claimsOn(name))).state as NameState;
        if (claim && claim.owner !== owner && (await check(claim, name)).holds) throw taken(name);
      }
    },
    /** Claims the names, one writer of this node at a time per name, then does the work that decides them. */
    claiming: <T>(names: readonly Wanted[], deciding: Deciding, work: () => Promise<T>): Promise<T> => {
      // One order everywhere, so that two such works cannot wait for each other.
      const inOrder = names
        .map((n) => ({ ...n, key: JSON.stringify([n.name.kind, n.name.parent ?? '', n.name.name]) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      const next = (i: number): Promise<T> => {
        const wanted = inOrder[i];
        if (!wanted) return work();
        return exclusively(wanted.key, async () => {
          await claim(wanted, deciding);
          return next(i + 1);
        });
      };
      return next(0);
    },
    /**
     * Writes down that a resource was called by a name that it does not claim, because the name need not be unique: so
     * a retry of the request finds the resource when it is not called so any more (retries.ts).
     */
    note: async (name: Name, { stream: owner, about }: Deciding): Promise<void> => {
      const stream = claimsOn(name);
      const noted = await streams.refresh(stream);
      if ((noted.state as NameState).bearers[0] === owner) return;
      const event = { topic: 'nameClaimed', data: { ...name, owner, decidedBy: owner } };
      await append({ stream, at: noted, source: sourceOf(owner), event, about });
    },
  };
};

export type NameClaims = ReturnType<typeof nameClaims>;
