import { LRUCache } from 'lru-cache';
import { aggregates } from '../../commands/all.ts';
import type { Aggregate } from '../../domain/engine/core.ts';
import { publishedEvent } from '../../domain/operations-manager/publishedEvents.ts';
import { projections } from '../../projections/all.ts';
import { type Projection, project } from '../../projections/engine/define.ts';
import { followedBy, mayReadGuard } from '../../projections/engine/guards.ts';
import { findParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { BadEvent, decode, splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Principal } from '../authentication/principal.ts';
import type { AreaRoutes, Common, Parent } from '../engine/route.ts';

/** The resource of an event: the category of its stream, and the id after the first dash. */
export type Resource = { readonly kind: string; readonly id: string };

/** Who wants to see an event. */
export type Viewer = Pick<Principal, 'actor' | 'may'>;

/** Decides about one event. It does not wait, so that many viewers can be asked at once. */
export type Judge = (viewer: Viewer) => boolean;

/** What must be known of an event. */
type Placed = Pick<StoredEvent, 'stream' | 'type'>;

/** Streams about a resource that is not their own: they are seen by who sees that resource. */
export const streamsAbout: Readonly<Record<string, string>> = { triggerSchedule: 'trigger', triggerRuns: 'trigger' };

/** Categories that no GET row shows and that only admins see. */
export const forAdmins: readonly string[] = [
  'automationImport',
  'deviceConfiguration',
  'deviceGroupImport',
  'formDeletion',
  'jobMoveDecision',
  'lastAction',
  'planDeletion',
  'scheduledJobMigration',
  'watching',
];

/** Categories that nobody sees: how the platform works inside. The categories of the log itself are not even known. */
export const forNobody: readonly string[] = ['login', 'name', 'parkedReaction', 'series'];

/** The row whose callers see published events. */
export const listOfEvents: Pick<Common, 'name' | 'access'> = { name: 'getEvents', access: ['operators', 'readers'] };

/** A row with method GET that shows a resource. */
export type GetRow = {
  readonly area: string;
  readonly row: Pick<Common, 'name' | 'access'>;
  readonly shows: Projection;
  readonly parent: Parent | undefined;
};

/** The last parts of a path are the furthest from the resource: `/automations/:id/export` is below `/automations/:id`. */
const depth = (path: string): number => path.split('/').length;

/**
 * The GET row of each category: the one with the shortest path that shows one document, else the list. A category that
 * has neither is not in the map.
 */
export const getRows = (areas: readonly AreaRoutes[]): ReadonlyMap<string, GetRow> => {
  const found = new Map<string, GetRow & { readonly rank: number }>();
  const offer = (rank: number, { of }: Projection, row: GetRow): void => {
    if (rank < (found.get(of.category)?.rank ?? Infinity)) found.set(of.category, { ...row, rank });
  };
  for (const { area, routes } of areas) {
    for (const row of routes) {
      const { parent } = row;
      const one = 'get' in row ? row.get : undefined;
      const shown = one ?? ('run' in row ? row.shows : undefined);
      if (shown) offer(depth(row.path), shown, { area, row, shows: shown, parent });
      const listed = 'list' in row && row.method === 'get' ? projectionListed(row.list) : undefined;
      if (listed) offer(1000, listed, { area, row, shows: listed, parent });
    }
  }
  return found;
};

const projectionListed = (list: unknown): Projection | undefined => projections.find((each) => each === list);

type Needs = {
  readonly areas: readonly AreaRoutes[];
  readonly model: ReadStore;
  readonly log: Pick<EventStore, 'read'>;
  /** Resolves once the read models show this position and all that this node has acknowledged. */
  readonly settled: (least: number) => Promise<void> | undefined;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly accountNow: (id: string) => Promise<Principal | undefined>;
};

const yes: Judge = () => true;
const no: Judge = () => false;
const admins: Judge = ({ actor }) => actor.admin;
const byList: Judge = ({ may }) => may(publishedEvent.area, listOfEvents);

const kinds: ReadonlyMap<string, Aggregate> = new Map(aggregates.map((each) => [each.category, each]));
const shownIn: ReadonlyMap<string, Projection> = new Map(projections.map((each) => [each.collection, each]));

/** The last guard that a document of the stream had: undefined if it could be read by everybody. */
type Last = { readonly guard: string | undefined; readonly parent: string | undefined };

/**
 * Says who sees an event. An event of a resource is seen by who may GET that resource now; that of a deleted one by who
 * may call its GET row and passes the access list that it had last. A published event is seen by who may list events.
 * Nobody sees events of the log's own streams, and of streams of other programs.
 */
export const eventAccess = ({ areas, model, log, settled, accountNow }: Needs) => {
  const rows = getRows(areas);
  const lasts = new LRUCache<string, { readonly version: number; readonly last: Last | undefined }>({ max: 10_000 });

  /** The resource of an event; null if the stream belongs to none that anybody may see. */
  const resourceOf = ({ stream, type }: Placed): Resource | null => {
    const { category, id } = splitStream(stream);
    const kind = streamsAbout[category] ?? category;
    if (forNobody.includes(category) || !isOfCategory(category, type)) return null;
    return { kind, id };
  };

  /** Reads the stream to find out who could read the document before it was deleted; undefined if it never was. */
  const readLast = async ({ shows, parent }: GetRow, id: string): Promise<Last | undefined> => {
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

  /** Like `readLast`, from memory if no document of the collection has changed since. A damaged stream: undefined. */
  const lastOf = async (row: GetRow, id: string): Promise<Last | undefined> => {
    const { collection } = row.shows;
    const [key, version] = [`${collection}/${id}`, model.version(collection)];
    const known = lasts.get(key);
    if (known?.version === version) return known.last;
    const last = await readLast(row, id).catch((error: unknown) => {
      if (error instanceof BadEvent) return undefined;
      throw error;
    });
    lasts.set(key, { version, last });
    return last;
  };

  /** The guards of the documents that a guard follows, at any depth; of those that are gone, the last ones. */
  const guardsBelow = async (guard: string, found: Map<string, string | null>): Promise<void> => {
    for (const [collection, id] of followedBy(guard)) {
      const key = `${collection}/${id}`;
      if (found.has(key)) continue;
      const next = await guardNowOrLast(collection, id);
      if (next === undefined) continue;
      found.set(key, next);
      if (next !== null) await guardsBelow(next, found);
    }
  };

  const guardNowOrLast = async (collection: string, id: string): Promise<string | null | undefined> => {
    const now = model.guard(collection, id);
    const row = rows.get(shownIn.get(collection)?.of.category ?? '');
    if (now !== undefined || !row) return now;
    const last = await lastOf(row, id);
    return last && (last.guard ?? null);
  };

  /** The judge for the last guard of a document that is gone. */
  const byLastGuard = async (guard: string | undefined): Promise<Judge> => {
    if (guard === undefined) return yes;
    const found = new Map<string, string | null>();
    await guardsBelow(guard, found);
    return ({ actor }) =>
      actor.admin || mayReadGuard(actor, (collection, id) => found.get(`${collection}/${id}`))(guard);
  };

  const both = (a: Judge, b: Judge): Judge => {
    if (a === yes) return b;
    return b === yes ? a : (viewer) => a(viewer) && b(viewer);
  };

  /** The judge for a parent: it must be readable; one that is gone counts as it was last. */
  const byParent = async ({ parent }: GetRow, id: string | undefined): Promise<Judge> => {
    const row = parent && rows.get(parent.of.of.category);
    if (!row?.shows.guard || id === undefined) return yes;
    return byResource(row, id);
  };

  /** The judge for a document: who may read it now, or could read it last. */
  const byResource = async (row: GetRow, id: string, isItsOwn = true): Promise<Judge> => {
    const { shows, parent } = row;
    const entry = (await model.get(shows.collection, id)) ?? (await findParked(model, shows.collection, id));
    if (entry) {
      const { guard } = entry;
      const above = parent?.field === undefined ? undefined : entry.filters[parent.field]?.[0];
      const own: Judge =
        guard === undefined ? yes : ({ actor }) => actor.admin || mayReadGuard(actor, model.guard)(guard);
      return both(own, await byParent(row, above));
    }
    // Without an access list it makes no difference what the document said last.
    if (!shows.guard && !parent) return isItsOwn ? yes : no;
    const last = await lastOf(row, id);
    return last ? both(await byLastGuard(last.guard), await byParent(row, last.parent)) : no;
  };

  /** The judge of an event. The read models must show the event. */
  const judgeOf = async ({ stream, type }: Placed): Promise<Judge> => {
    const resource = resourceOf({ stream, type });
    if (!resource) return no;
    const { kind, id } = resource;
    if (kind === publishedEvent.category) return byList;
    if (forAdmins.includes(kind)) return admins;
    const row = rows.get(kind);
    if (!row) return no;
    const topic = type.slice(type.lastIndexOf(':') + 1);
    const isItsOwn = kind !== splitStream(stream).category || Object.hasOwn(row.shows.of.evolve, topic);
    const mayCall: Judge = ({ may }) => may(row.area, row.row);
    return both(mayCall, await byResource(row, id, isItsOwn));
  };

  return {
    resourceOf,
    /** Decides for any number of viewers at once. Rights are as of the time of the call. */
    judge: async (event: Placed & Pick<StoredEvent, 'position'>): Promise<Judge> => {
      await settled(event.position);
      return judgeOf(event);
    },
    /** Whether the viewer sees the event, as of now. */
    sees: async (viewer: Viewer, event: Placed & Pick<StoredEvent, 'position'>): Promise<boolean> => {
      await settled(event.position);
      return (await judgeOf(event))(viewer);
    },
    /** The account as of now, with its rights; undefined if it is deleted or inactive. */
    viewerOf: accountNow,
  };
};

export type EventAccess = ReturnType<typeof eventAccess>;

/**
 * Whether the platform writes events of this type to streams of this category. Others may write to a log as well, and
 * what they wrote to a stream of the platform is not the platform's.
 */
const isOfCategory = (category: string, type: string): boolean => {
  if (category === publishedEvent.category) return !type.startsWith('@platform/');
  const area = (kinds.get(category) ?? kinds.get(streamsAbout[category] ?? ''))?.area;
  return area !== undefined && type.startsWith(`@platform/${area}:`);
};
