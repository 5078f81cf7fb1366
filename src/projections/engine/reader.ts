import { type Actor, type Aggregate, seesAll } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Projection } from './define.ts';
import { mayReadGuard } from './guards.ts';
import { findParked, unshowable } from './parked.ts';
import type { Entry, ReadModel } from './port.ts';

/** Throws for resources whose streams another program has touched (commands/engine/tamperedGuard.ts). */
type Guard = {
  readonly refuseTampered: (aggregate: Aggregate, id: string) => Promise<void>;
  readonly refuseLost: (aggregate: Aggregate, idOrName: string) => Promise<void>;
};

/** Says where a retired document can be seen; undefined: it is none, or the actor may not read it. */
type Hint = (projection: Projection, id: string, actor: Actor) => Promise<string | undefined>;

const noHint: Hint = async () => undefined;

/**
 * Reads single documents as an actor may see them. A document that the actor may not read is `not_found`. A parked
 * document is `internal`. A document of a tampered stream is `unavailable`.
 */
export const reader = (model: ReadModel, { refuseTampered, refuseLost }: Guard, hint: Hint = noHint) => {
  const readable = (entry: Entry | undefined, actor: Actor): entry is Entry =>
    entry !== undefined && (entry.guard === undefined || seesAll(actor) || mayReadGuard(actor, model)(entry.guard));

  /** The error for a document that was not found: it does not exist, or it cannot be shown. */
  const absent = async (
    projection: Projection,
    idOrName: string,
    actor: Actor,
    message: string,
  ): Promise<RequestError> => {
    const { collection, of } = projection;
    const parked = await findParked(model, collection, idOrName);
    if (readable(parked, actor)) return unshowable(parked);
    if (!parked) await refuseLost(of, idOrName);
    const more = parked ? undefined : await hint(projection, idOrName, actor);
    return new RequestError('not_found', more === undefined ? message : `${message}. ${more}`);
  };

  const sound = async ({ of }: Projection, entry: Entry): Promise<Entry> => {
    await refuseTampered(of, entry.id);
    return entry;
  };

  const entryById = async (projection: Projection, id: string, actor: Actor): Promise<Entry> => {
    const { collection } = projection;
    const message = `Nothing in ${collection} has this id`;
    const entry = await model.get(collection, id);
    if (readable(entry, actor)) return sound(projection, entry);
    throw entry ? new RequestError('not_found', message) : await absent(projection, id, actor, message);
  };

  const entry = async (projection: Projection, idOrName: string, actor: Actor): Promise<Entry> => {
    const { collection } = projection;
    const message = `Nothing in ${collection} has the id or name ${JSON.stringify(idOrName)}`;
    const byId = await model.get(collection, idOrName);
    if (readable(byId, actor)) return sound(projection, byId);
    const named = await model.getMany(collection, await model.idsNamed(collection, idOrName));
    const readableEntries = named.filter((found) => readable(found, actor));
    if (readableEntries.length > 1)
      throw new RequestError('conflict', `Several ${collection} are named ${JSON.stringify(idOrName)}; use the id`);
    if (readableEntries[0]) return sound(projection, readableEntries[0]);
    throw byId || named.length > 0
      ? new RequestError('not_found', message)
      : await absent(projection, idOrName, actor, message);
  };

  return { entry, entryById };
};
