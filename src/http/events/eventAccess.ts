import { lruCache } from '@automation-platform/concurrency';
import { LRUCache } from 'lru-cache';
import { resourceOf } from '../../audit/auditEvent.ts';
import { aggregates } from '../../domain/all.ts';
import { denied, handedOut } from '../../domain/authorization/requestRecords.ts';
import { seesAll } from '../../domain/engine/core.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { publishedEvent } from '../../domain/operations-manager/publishedEvents.ts';
import { type Deciding, decidingIn, type PrebuiltImported, prebuilt } from '../../domain/prebuilts/prebuilts.ts';
import { everySource, type ForeignSources } from '../../domain/sources.ts';
import type { Node } from '../../node.ts';
import { projections } from '../../projections/all.ts';
import { projects } from '../../projections/automation-studio/projects.ts';
import { type Projection, project } from '../../projections/engine/define.ts';
import { followedGuard, lastGuard, mayReadGuard } from '../../projections/engine/guards.ts';
import { findParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { prebuilts } from '../../projections/prebuilts/prebuilts.ts';
import { foreignEvents } from '../../store/anyEvent.ts';
import { hiddenCategories } from '../../store/auditIndex/found.ts';
import { BadEvent, decode, splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Principal } from '../authentication/principal.ts';
import type { AreaRoutes, Common } from '../engine/route.ts';

/** A caller who wants to see an event. */
export type Viewer = Pick<Principal, 'actor' | 'may'>;

/** Decides about one event. It does not wait, so that many viewers can be asked at once. */
export type Judge = (viewer: Viewer) => boolean;

/** The parts of an event that decide who sees it. */
type Placed = Pick<StoredEvent, 'stream' | 'type'>;

/** Categories of which only admins see events: no GET row shows them, or shows them to their owners. */
export const forAdmins: readonly string[] = [
  'automationImport',
  'configurationBackupDeletion',
  'deviceConfiguration',
  'deviceGroupDeletion',
  'deviceGroupImport',
  'deviceTemplateDeletion',
  'formDeletion',
  'hostKey',
  'jobMoveDecision',
  'lastAction',
  'planDeletion',
  'scheduledJobMigration',
  'token',
  'treeDeletion',
  'watching',
];

/** Streams of what the service records by itself. Audits show them to those who may see denials. */
export const records: readonly string[] = [denied.category, handedOut.category, 'digest'];

/** The row whose callers see those records. */
export const listOfDenials: Pick<Common, 'name' | 'access'> = { name: 'getAuditDenied', access: [] };

/** The row whose callers see published events. */
export const listOfEvents: Pick<Common, 'name' | 'access'> = { name: 'getEvents', access: ['operators', 'readers'] };

/** The kinds of resources that have events of a type; the type of a published event is not known. */
const kindsOf = new Map<string, string[]>();
for (const { area, category, topics } of aggregates)
  for (const topic of Object.keys(topics)) {
    const type = `@platform/${area}:${topic}`;
    const kind = resourceOf({ stream: `${category}-`, type })?.kind;
    if (kind !== undefined) kindsOf.set(type, [...(kindsOf.get(type) ?? []), kind]);
  }

type Options = {
  readonly areas: readonly AreaRoutes[];
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly accountNow: (id: string) => Promise<Principal | undefined>;
  /** The sources of other programs' events that count; all unless given. */
  readonly foreign?: ForeignSources;
};

const yes: Judge = () => true;
const no: Judge = () => false;
/** No method: a token that may call only some methods may not call it. */
const everything: Pick<Common, 'name' | 'access'> = { name: '*', access: [] };
const admins: Judge = ({ actor, may }) => seesAll(actor) && may('audit', everything);
const byList: Judge = ({ may }) => may(publishedEvent.area, listOfEvents);

const both = (a: Judge, b: Judge): Judge => {
  if (a === yes) return b;
  return b === yes ? a : (viewer) => a(viewer) && b(viewer);
};

/**
 * Says who sees an event. An event of a resource is seen by who may GET that resource now; that of a deleted one by who
 * may call its GET row and passes the access list that it had last. Events of a package show its automations: they are
 * seen by who may read all of them. A published event is seen by who may list events, and so is one of another program
 * that counts. As a stream, nobody gets other events of other programs, and those of the log's own streams.
 */
export const eventAccess = ({ model, log, settled }: Node, { areas, accountNow, foreign = everySource }: Options) => {
  const isForeign = foreignEvents(foreign);
  const rows = getRows(areas);
  const retiredGuard = retiredGuards(log);
  const brought = broughtByPackages(model, log);

  /** The judge for a document: who may read it now, or could read it last. */
  const byResource = async ({ shows }: GetRow, id: string, isItsOwn = true): Promise<Judge> => {
    const { collection } = shows;
    if (!shows.guard) {
      const isThere = isItsOwn || (await model.get(collection, id)) || (await findParked(model, collection, id));
      return isThere ? yes : no;
    }
    const hit = lastGuard(model, collection, id);
    const guard = hit === undefined ? await retiredGuard(shows, id) : hit;
    if (guard === undefined) return no;
    return guard === null ? yes : ({ actor }) => seesAll(actor) || mayReadGuard(actor, model)(guard);
  };

  /** The resource that an event is about: null if it is one of another program; undefined if nobody may see it as a stream. */
  const aboutOf = (event: Placed): Resource | null | undefined =>
    resourceOf(event) ?? (isForeign(event) ? null : undefined);

  /** The judge of an event. The read models must show the event. */
  const judgeOf = async ({ stream, type }: Placed): Promise<Judge> => {
    const resource = aboutOf({ stream, type });
    if (resource === undefined) return no;
    if (resource === null) return byList;
    const { kind, id } = resource;
    if (kind === publishedEvent.category) return byList;
    if (forAdmins.includes(kind)) return admins;
    const row = rows.get(kind);
    if (!row) return no;
    const topic = type.slice(type.lastIndexOf(':') + 1);
    const isItsOwn = kind !== splitStream(stream).category || Object.hasOwn(row.shows.of.evolve, topic);
    const mayCall: Judge = ({ may }) => may(row.area, row.row);
    return both(both(mayCall, await byResource(row, id, isItsOwn)), await byBrought(stream));
  };

  /** The judge for the automations and projects that the events of a package show: all of them must be readable. */
  const byBrought = async (stream: string): Promise<Judge> => {
    const deciding = await brought(stream);
    if (!deciding) return admins;
    const row = rows.get(automation.category);
    let judge = yes;
    for (const id of deciding.automations) judge = both(judge, row ? await byResource(row, id) : no);
    for (const id of deciding.projects)
      judge = both(judge, ({ actor }) => seesAll(actor) || mayReadGuard(actor, model)(followedGuard(projects, id)));
    return judge;
  };

  /** True if the viewer sees all events of a kind (true) or none; undefined: access lists decide about each. */
  const seesKind = (viewer: Viewer, kind: string): boolean | undefined => {
    if (kind === publishedEvent.category) return byList(viewer);
    if (forAdmins.includes(kind)) return admins(viewer);
    const row = rows.get(kind);
    if (!row || !viewer.may(row.area, row.row)) return false;
    return row.shows.guard && !admins(viewer) ? undefined : true;
  };

  const sees = async (viewer: Viewer, event: Placed & Pick<StoredEvent, 'position'>): Promise<boolean> => {
    await settled(event.position);
    return (await judgeOf(event))(viewer);
  };

  return {
    aboutOf,
    /** True if there is anybody who may see an event: nobody sees how the platform works inside. */
    isForSomebody: (event: Placed): boolean => {
      const resource = aboutOf(event);
      if (!resource) return resource === null;
      const { kind } = resource;
      return kind === publishedEvent.category || forAdmins.includes(kind) || rows.has(kind);
    },
    /** Resolves once the read models show this position, which they must before anybody judges its event. */
    waitUntilShown: async (position: number): Promise<void> => settled(position),
    /** Decides about an event that the read models show, for any number of viewers, as of now. */
    judge: judgeOf,
    /** True if the viewer sees the event, as of now. */
    sees,
    /** True if the viewer sees all events of a type (true) or none; undefined: access lists decide about each. */
    seesType: (viewer: Viewer, type: string): boolean | undefined => {
      const [first, ...others] = (kindsOf.get(type) ?? [publishedEvent.category]).map((kind) => seesKind(viewer, kind));
      return others.every((one) => one === first) ? first : undefined;
    },
    /** The same in audits, which also show records of requests, and events that belong to no resource. */
    seesInAudit: async (viewer: Viewer, event: Placed & Pick<StoredEvent, 'position'>): Promise<boolean> => {
      if (aboutOf(event) !== undefined) return sees(viewer, event);
      const { category } = splitStream(event.stream);
      if (records.includes(category)) return viewer.may('audit', listOfDenials);
      return admins(viewer) && !hiddenCategories.includes(category);
    },
    /** The account as of now, with its rights; undefined if it is deleted or inactive. */
    viewerOf: accountNow,
  };
};

export type EventAccess = ReturnType<typeof eventAccess>;

/** A row that shows a resource: one with method GET, or a search. */
export type GetRow = {
  readonly area: string;
  readonly row: Pick<Common, 'name' | 'access'>;
  readonly shows: Projection;
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
      const one = 'get' in row ? row.get : undefined;
      const waitUntilShown = one ?? ('run' in row ? row.shows : undefined);
      if (waitUntilShown) offer(depth(row.path), waitUntilShown, { area, row, shows: waitUntilShown });
      const listed = 'list' in row && row.method === 'get' ? projectionListed(row.list) : undefined;
      if (listed) offer(Number.MAX_SAFE_INTEGER, listed, { area, row, shows: listed });
    }
  }
  return found;
};

const projectionListed = (list: unknown): Projection | undefined => projections.find((each) => each === list);

type Brought = Required<Deciding>;

/**
 * Makes the function that finds the automations and projects which a package has ever brought: its events show them. None
 * for streams of other kinds; undefined if the stream is damaged.
 */
const broughtByPackages = (model: ReadStore, log: EventStore) => {
  const cache = new LRUCache<string, { readonly version: number; readonly all: Brought | undefined }>({ max: 1000 });

  const read = async (stream: string): Promise<Brought> => {
    const automations = new Set<string>();
    const projects = new Set<string>();
    for await (const events of log.read(stream)) {
      for (const stored of events) {
        const { topic, data } = decode(stored);
        if (topic !== 'prebuiltImported') continue;
        const { installed } = data as PrebuiltImported; // the topic says so
        const deciding = decidingIn(installed);
        for (const id of deciding.automations) automations.add(id);
        for (const id of deciding.projects) projects.add(id);
      }
    }
    return { automations: [...automations], projects: [...projects] };
  };

  return async (stream: string): Promise<Brought | undefined> => {
    if (splitStream(stream).category !== prebuilt.category) return { automations: [], projects: [] };
    const version = model.version(prebuilts.collection);
    const hit = cache.get(stream);
    if (hit?.version === version) return hit.all;
    const all = await read(stream).catch((error: unknown) => {
      if (error instanceof BadEvent) return undefined;
      throw error;
    });
    cache.set(stream, { version, all });
    return all;
  };
};

/**
 * Makes the function that finds the guard of a retired document in its stream: null if everybody may read it, undefined
 * if there never was such a document, or its stream is damaged.
 */
const retiredGuards = (log: EventStore) => {
  // Nothing happens to what is retired.
  const guardCache = lruCache<{ readonly guard: string | null }>(10_000);

  const read = async (shows: Projection, id: string): Promise<string | null | undefined> => {
    let doc: unknown;
    let last: unknown;
    for await (const events of log.read(`${shows.of.category}-${id}`)) {
      for (const event of events) {
        doc = project(shows, doc, decode(event));
        last = doc ?? last;
      }
    }
    return last === undefined ? undefined : (shows.guard?.(last) ?? null);
  };

  return async (shows: Projection, id: string): Promise<string | null | undefined> => {
    const key = `${shows.collection}/${id}`;
    const hit = guardCache.get(key);
    if (hit) return hit.guard;
    const guard = await read(shows, id).catch((error: unknown) => {
      if (error instanceof BadEvent) return undefined;
      throw error;
    });
    if (guard !== undefined) guardCache.set(key, { guard });
    return guard;
  };
};
