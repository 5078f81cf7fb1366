import type { Name } from '../../domain/engine/core.ts';
import { type Claim, sameName } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { LoadedStream } from './loaded.ts';
import type { Streams } from './streams.ts';

/** Tells if a claim holds; and the deciding stream as it was read. */
type Checked = { readonly holds: boolean; readonly decided: LoadedStream };

/** Another resource has the name. */
export class NameTaken extends RequestError {
  constructor({ name }: Name, cause?: unknown) {
    super('conflict', `The name ${JSON.stringify(name)} is taken`, { path: 'name', cause });
    this.name = 'NameTaken';
  }
}

/** Checks whether a claim on a name holds, by the present state of the streams. */
export const claimChecker = (streams: Streams) => {
  const shows = (stream: string, { state }: LoadedStream, name: Name): boolean =>
    streams
      .kindOf(stream)
      .aggregate.names?.(state)
      .some((ownName) => sameName(ownName, name)) ?? false;

  const look = async ({ owner, decidedBy }: Claim, name: Name): Promise<Checked> => {
    const decided = await streams.refresh(decidedBy);
    if (owner === decidedBy) return { decided, holds: shows(owner, decided, name) };
    const own = await streams.refresh(owner);
    const promised = streams.kindOf(decidedBy).aggregate.reservations?.(decided.state) ?? [];
    if (!promised.some((p) => p.owner === owner && sameName(p.name, name)))
      return { decided, holds: shows(owner, own, name) };
    // Only parts of the present promise count, not those of earlier promises of the same stream.
    const carriedOut = own.keys.followsSince(decidedBy, decided.promisedAt);
    return { decided, holds: !carriedOut || shows(owner, own, name) };
  };

  /** If the deciding stream cannot be read, the claim may hold. So the owner keeps the name. */
  return (claim: Claim, name: Name): Promise<Checked> =>
    look(claim, name).catch((error: unknown) => {
      throw isUnusable(error) ? new NameTaken(name, error) : error;
    });
};
