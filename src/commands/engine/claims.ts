import { hash as digest, randomUUID } from 'node:crypto';
import type { Event, Name } from '../../domain/engine/core.ts';
import { type Claim, claimLapsed, type NameState, sameName } from '../../domain/engine/names.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import { encode, type Metadata } from '../../store/event.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { isUnusable } from '../../store/touched.ts';
import { partOf } from './parts.ts';
import type { Loaded, Streams } from './streams.ts';
import { mutex } from '../../concurrency/mutex.ts';

type About = Omit<Metadata, 'hash'>;

/** A name, and the stream that is to bear it. */
type Wanted = { readonly owner: string; readonly name: Name };

const attempts = 10;

/** The stream of the claims on a name. */
export const claimsOn = ({ kind, parent = '', name }: Name): string =>
  `name-${digest('sha256', JSON.stringify([kind, parent, name]), 'hex')}`;

const taken = ({ name }: Name, cause?: unknown): Refusal =>
  new Refusal('conflict', `The name ${JSON.stringify(name)} is taken`, { path: 'name', cause });

/**
 * Unique names on a store that appends to one stream at a time. A name's claims are a stream of their own; a claim
 * holds while the stream that decides it shows the owner with that name. Taking over one that does not hold first
 * closes that deciding stream to its slow writer (`claimLapsed` at the revision read), then claims: no clocks, no
 * sweeper.
 */
export const nameClaims = (store: EventStore, streams: Streams) => {
  const inTurn = mutex();

  const append = async (
    stream: string,
    at: Loaded,
    source: string,
    event: Event,
    { idempotency: _, ...about }: About,
  ): Promise<boolean> => {
    try {
      await store.append(stream, at.revision, [
        encode(stream, at.revision + 1, randomUUID(), source, event, about, at.hash),
      ]);
      return true;
    } catch (error) {
      if (error instanceof WrongRevision) return false;
      throw error;
    }
  };

  const shows = (stream: string, { state }: Loaded, name: Name): boolean =>
    streams
      .kindOf(stream)
      .aggregate.names?.(state)
      .some((held) => sameName(held, name)) ?? false;

  /**
   * The deciding stream as read, and whether it makes the claim hold. One that cannot be read may: the name stays its
   * own.
   */
  const check = (claim: Claim, name: Name): Promise<{ holds: boolean; decided: Loaded }> =>
    look(claim, name).catch((error: unknown) => {
      throw isUnusable(error) ? taken(name, error) : error;
    });

  const look = async ({ owner, decidedBy }: Claim, name: Name): Promise<{ holds: boolean; decided: Loaded }> => {
    const decided = await streams.refresh(decidedBy);
    if (owner === decidedBy) return { decided, holds: shows(owner, decided, name) };
    const own = await streams.refresh(owner);
    const promised = streams.kindOf(decidedBy).aggregate.promises?.(decided.state) ?? [];
    if (!promised.some((p) => p.owner === owner && sameName(p.name, name)))
      return { decided, holds: shows(owner, own, name) };
    // Parts of what the stream promised before say nothing of this.
    const part = partOf(decidedBy);
    const carriedOut = [...own.keys.keys()].some(
      (key) => key.startsWith(part) && Number(key.slice(part.length)) >= decided.promisedAt,
    );
    return { decided, holds: !carriedOut || shows(owner, own, name) };
  };

  /**
   * Throws `conflict` if another owner has one of the names. A claim is an event: what is refused so has stored
   * nothing.
   */
  const refuseTaken = async (names: readonly Wanted[]): Promise<void> => {
    for (const { owner, name } of names) {
      const { claim } = (await streams.refresh(claimsOn(name))).state as { claim?: Claim };
      if (claim && claim.owner !== owner && (await check(claim, name)).holds) throw taken(name);
    }
  };

  const claim = async (name: Name, owner: string, decidedBy: string, about: About): Promise<void> => {
    const stream = claimsOn(name);
    const source = `@platform/${streams.kindOf(owner).aggregate.area}`;
    for (let tried = 0; tried < attempts; tried++) {
      const claims = await streams.refresh(stream);
      const { claim } = claims.state as NameState;
      const { holds, decided } = claim ? await check(claim, name) : { holds: false, decided: undefined };
      const mine = claim?.owner === owner;
      const again = mine && claim.decidedBy === decidedBy;
      // What an intent has promised to the owner is as good as a claim of its own; the owner's own name it may still
      // give up.
      if (holds && mine && (again || claim.decidedBy !== owner)) return;
      // One of its own that does not hold yet is made anew: somebody may have let it lapse and be about to claim.
      if (claim && decided && !again && !(holds && mine)) {
        if (holds) throw taken(name);
        const lapsed = await append(
          claim.decidedBy,
          decided,
          `@platform/${streams.kindOf(claim.decidedBy).aggregate.area}`,
          claimLapsed(name),
          about,
        );
        if (!lapsed) continue;
      }
      if (await append(stream, claims, source, { type: 'nameClaimed', data: { ...name, owner, decidedBy } }, about))
        return;
    }
    throw new Refusal('unavailable', 'Too many writers want this name; nothing was stored', { retryAfterSeconds: 1 });
  };

  /** Claims the names, one writer of this node at a time per name, then does the work that decides them. */
  const claiming = <T>(
    names: readonly Wanted[],
    decidedBy: string,
    about: About,
    work: () => Promise<T>,
  ): Promise<T> => {
    // One order everywhere, so that two such works cannot wait for each other.
    const inOrder = names
      .map((n) => ({ ...n, key: JSON.stringify([n.name.kind, n.name.parent ?? '', n.name.name]) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const next = (i: number): Promise<T> => {
      const wanted = inOrder[i];
      if (!wanted) return work();
      return inTurn(wanted.key, async () => {
        await claim(wanted.name, wanted.owner, decidedBy, about);
        return next(i + 1);
      });
    };
    return next(0);
  };

  /**
   * Writes down that a resource was called by a name that it does not claim, because the name need not be unique: so a
   * retry of the request finds the resource when it is not called so any more (retries.ts).
   */
  const note = async (name: Name, owner: string, about: About): Promise<void> => {
    const stream = claimsOn(name);
    const noted = await streams.refresh(stream);
    if ((noted.state as NameState).bearers[0] === owner) return;
    const source = `@platform/${streams.kindOf(owner).aggregate.area}`;
    await append(stream, noted, source, { type: 'nameClaimed', data: { ...name, owner, decidedBy: owner } }, about);
  };

  return { claiming, note, refuseTaken };
};
