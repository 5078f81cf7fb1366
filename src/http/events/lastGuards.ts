import { LRUCache } from 'lru-cache';
import type { Actor } from '../../domain/engine/core.ts';
import { projections } from '../../projections/all.ts';
import { type Projection, project } from '../../projections/engine/define.ts';
import { followedBy, mayReadGuard } from '../../projections/engine/guards.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { BadEvent, decode } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';
import type { GetRow } from './getRows.ts';

type Needs = {
  readonly rows: ReadonlyMap<string, GetRow>;
  readonly model: Pick<ReadStore, 'guard' | 'version'>;
  readonly log: Pick<EventStore, 'read'>;
};

/** The last guard that a document had (undefined: everybody could read it), and the id of its parent, if it had one. */
type Last = { readonly guard: string | undefined; readonly parent: string | undefined };

/** Whether an actor may pass. */
type Passes = (actor: Pick<Actor, 'admin' | 'groups'>) => boolean;

const shownIn: ReadonlyMap<string, Projection> = new Map(projections.map((each) => [each.collection, each]));

/** Finds out who could read documents that are gone. Their streams still say it. */
export const lastGuards = ({ rows, model, log }: Needs) => {
  const kept = new LRUCache<string, { readonly version: number; readonly last: Last | undefined }>({ max: 10_000 });

  const read = async ({ shows, parent }: GetRow, id: string): Promise<Last | undefined> => {
    let doc: unknown;
    let last: unknown;
    for await (const events of log.read(`${shows.of.category}-${id}`)) {
      for (const event of events) {
        doc = project(shows, doc, decode(event));
        last = doc ?? last;
      }
    }
    if (last === undefined) return undefined;
    const above = parent?.field === undefined ? undefined : shows.filters[parent.field]?.(last);
    return { guard: shows.guard?.(last), parent: typeof above === 'string' ? above : undefined };
  };

  /** What a document that is gone said last; undefined if it never was, or its stream is damaged. */
  const last = async (row: GetRow, id: string): Promise<Last | undefined> => {
    const { collection } = row.shows;
    const [key, version] = [`${collection}/${id}`, model.version(collection)];
    const known = kept.get(key);
    // Since then the document may have been made and deleted again, with another guard.
    if (known?.version === version) return known.last;
    const found = await read(row, id).catch((error: unknown) => {
      if (error instanceof BadEvent) return undefined;
      throw error;
    });
    kept.set(key, { version, last: found });
    return found;
  };

  const nowOrLast = async (collection: string, id: string): Promise<string | null | undefined> => {
    const now = model.guard(collection, id);
    const row = rows.get(shownIn.get(collection)?.of.category ?? '');
    if (now !== undefined || !row) return now;
    const found = await last(row, id);
    return found && (found.guard ?? null);
  };

  /** The guards of the documents that a guard follows, at any depth; of those that are gone, the last ones. */
  const below = async (guard: string, found: Map<string, string | null>): Promise<void> => {
    for (const [collection, id] of followedBy(guard)) {
      const key = `${collection}/${id}`;
      const next = found.has(key) ? undefined : await nowOrLast(collection, id);
      if (next === undefined) continue;
      found.set(key, next);
      if (next !== null) await below(next, found);
    }
  };

  return {
    last,
    /** Who passes the last guard of a document that is gone. */
    passes: async (guard: string | undefined): Promise<Passes> => {
      if (guard === undefined) return () => true;
      const found = new Map<string, string | null>();
      await below(guard, found);
      const guardOf = (collection: string, id: string) => found.get(`${collection}/${id}`);
      return (actor) => actor.admin || mayReadGuard(actor, guardOf)(guard);
    },
  };
};
