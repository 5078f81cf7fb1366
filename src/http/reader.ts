import type { Actor } from '../domain/core.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Projection } from '../projections/define.ts';
import { findParked, unshowable } from '../projections/parked.ts';
import { mayReadGuard } from '../projections/guards.ts';
import type { Entry, ReadStore } from '../projections/port.ts';

/** Single documents as an actor may see them: what they may not read is not there, what is parked is refused with `internal`. */
export const reader = (model: ReadStore) => {
  const readable = (entry: Entry | undefined, actor: Actor): entry is Entry =>
    entry !== undefined && (entry.guard === undefined || actor.admin || mayReadGuard(actor, model.guard)(entry.guard));

  /** What to refuse with where no document was found: that it is not there, or that it cannot be shown. */
  const absent = async (collection: string, idOrName: string, actor: Actor, message: string): Promise<Refusal> =>
    (readable(await findParked(model, collection, idOrName), actor) ? unshowable() : new Refusal('not_found', message));

  const entryById = async ({ collection }: Projection, id: string, actor: Actor): Promise<Entry> => {
    const entry = await model.get(collection, id);
    if (readable(entry, actor)) return entry;
    throw await absent(collection, id, actor, `Nothing in ${collection} has this id`);
  };

  const entry = async (projection: Projection, idOrName: string, actor: Actor): Promise<Entry> => {
    const { collection } = projection;
    const byId = await model.get(collection, idOrName);
    if (readable(byId, actor)) return byId;
    const named = (await model.getMany(collection, await model.idsNamed(collection, idOrName))).filter((found) => readable(found, actor));
    if (named.length > 1) throw new Refusal('conflict', `Several ${collection} are named ${JSON.stringify(idOrName)}; use the id`);
    if (named[0]) return named[0];
    throw await absent(collection, idOrName, actor, `Nothing in ${collection} has the id or name ${JSON.stringify(idOrName)}`);
  };

  return { entry, entryById };
};
