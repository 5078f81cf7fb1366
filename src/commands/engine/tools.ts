import type { Signature } from '../../domain/engine/authors.ts';
import { type Aggregate, type Followed, type Gbac, seesAll, type Use } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type Collection, nameSort, type Projection } from '../../projections/engine/define.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import { findParked, parkedIdIn } from '../../projections/engine/parked.ts';
import { perVersion } from '../../projections/engine/perVersion.ts';
import type { Entry, ReadModel, Where } from '../../projections/engine/port.ts';
import type { Tools } from './define.ts';
import { isRetired } from './retirement.ts';
import type { Streams } from './streams.ts';

type Needs = {
  readonly model: ReadModel;
  readonly streams: Pick<Streams, 'refresh' | 'asOf' | 'events' | 'kindOf'>;
  /** Resolves when the read models show everything that this node has acknowledged. */
  readonly caughtUp: () => Promise<void> | undefined;
  readonly rest: Omit<
    Tools,
    | 'state'
    | 'stateForRights'
    | 'gbacAbove'
    | 'version'
    | 'events'
    | 'mayRead'
    | 'isRetired'
    | 'shown'
    | 'signature'
    | 'find'
    | 'query'
    | 'all'
    | 'findWithin'
    | 'idsNamed'
    | 'count'
  >;
};

const pageLength = 1000;

/** All documents that match, page by page. */
export const queryAll = async <Doc, Filter extends string>(
  { query }: Pick<Tools, 'query'>,
  collection: Collection<Doc, string, Filter>,
  where?: Where<NoInfer<Filter>>,
): Promise<readonly Doc[]> => {
  const found: Doc[] = [];
  for (;;) {
    const page = await query(collection, where, found.length);
    found.push(...page);
    if (page.length < pageLength) return found;
  }
};

/** The id of a parked document. Commands may find it: loading its stream then gives the reason. */
const parkedId = async (model: ReadModel, collection: string, idOrName: string): Promise<string | undefined> => {
  const entry = await findParked(model, collection, idOrName);
  return entry && parkedIdIn(entry);
};

/** The list of the resource that one follows. It is open if there never was such a resource. */
const listAbove = async (streams: Needs['streams'], { category, id }: Followed, use: Use): Promise<Gbac> => {
  const stream = `${category}-${id}`;
  const { gbacBelow } = streams.kindOf(stream).aggregate;
  const { state } = await streams.refresh(stream);
  return gbacBelow?.(state, use) ?? { read: [], write: [] };
};

const stateOf = async <S>(streams: Needs['streams'], { category }: Aggregate<S>, id: string): Promise<S> => {
  const { state } = await streams.refresh(`${category}-${id}`);
  return state as S; // this aggregate has folded the stream
};

/** The tools that `prepare` gets. */
export const commandTools = ({ model, streams, caughtUp, rest }: Needs): Tools => {
  const wholeCollections = new Map<string, ReturnType<typeof perVersion<readonly unknown[], ReadModel>>>();
  const tools: Tools = {
    ...rest,
    state: (aggregate, id) => stateOf(streams, aggregate, id),
    stateForRights: (aggregate, id) => stateOf(streams, aggregate, id),
    gbacAbove: ({ follows }, state, use) => {
      const above = follows?.(state);
      return above && listAbove(streams, above, use);
    },
    version: async <S>({ category }: Aggregate<S>, id: string, at?: number) => {
      const stream = `${category}-${id}`;
      const { state, revision, position } = await (at === undefined
        ? streams.refresh(stream)
        : streams.asOf(stream, at));
      return { state: state as S, revision, position }; // this aggregate has folded the stream
    },
    events: ({ category }, id, last, from = 0) => streams.events(`${category}-${id}`, from, last),
    mayRead: ({ guard }, doc, actor) => {
      const key = guard?.(doc);
      return key === undefined || seesAll(actor) || mayReadGuard(actor, model)(key);
    },
    isRetired: async ({ category }, id) => {
      const { endedAt } = await streams.refresh(`${category}-${id}`);
      return isRetired(endedAt, category, (aggregate, of) => stateOf(streams, aggregate, of));
    },
    shown: async <Doc>(projection: Projection<Doc>, id: string): Promise<Doc | undefined> => {
      const stream = `${projection.of.category}-${id}`;
      const { docs } = await streams.refresh(stream);
      return docs[streams.kindOf(stream).projections.indexOf(projection)] as Doc | undefined; // this projection made it
    },
    signature: async ({ category }, id) => {
      const { docs } = await streams.refresh(`${category}-${id}`);
      return docs[0] as Signature | undefined; // documents of resources with authors have these members
    },
    find: async ({ collection }, idOrName) => {
      await caughtUp();
      if (await model.get(collection, idOrName)) return idOrName;
      const [id, ...others] = await model.idsNamed(collection, idOrName);
      if (others.length > 0)
        throw new RequestError('conflict', `Several ${collection} are named ${JSON.stringify(idOrName)}; use the id`, {
          faults: [{ message: 'The name is not unique', ids: [id, ...others] }],
        });
      return id ?? parkedId(model, collection, idOrName);
    },
    idsNamed: async ({ collection }, name) => {
      await caughtUp();
      return model.idsNamed(collection, name);
    },
    query: async (collection, where, skip = 0) => {
      await caughtUp();
      const { entries } = await model.list(collection.collection, {
        ...(where && { where }),
        sort: nameSort(collection),
        order: 1,
        skip,
        limit: pageLength,
      });
      return entries.map(({ text }) => JSON.parse(text));
    },
    all: async <Doc>(collection: Collection<Doc>) => {
      const name = collection.collection;
      const read = wholeCollections.get(name) ?? perVersion(name, () => queryAll(tools, collection));
      wholeCollections.set(name, read);
      await caughtUp();
      return (await read(model, '')) as readonly Doc[]; // of this collection
    },
    findWithin: async ({ collection }, field, value, idsOrNames) => {
      await caughtUp();
      const within = (entries: readonly (Entry | undefined)[]) =>
        entries.find((entry) => entry?.filters[field]?.includes(value))?.id;
      const byId = await model.getMany(collection, idsOrNames);
      return Promise.all(
        idsOrNames.map(
          async (idOrName, i) =>
            within([byId[i]]) ??
            within(await model.getMany(collection, await model.idsNamed(collection, idOrName))) ??
            parkedId(model, collection, idOrName),
        ),
      );
    },
    count: async (collection, where) => {
      await caughtUp();
      const one = { where, sort: nameSort(collection), order: 1, skip: 0, limit: 1 } as const;
      return (await model.list(collection.collection, one)).total;
    },
  };
  return tools;
};
