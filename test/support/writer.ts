import { Type } from 'typebox';
import { commandsOf, type Tools } from '../../src/commands/engine/define.ts';
import { handler } from '../../src/commands/engine/handle.ts';
import type { Reaction } from '../../src/commands/engine/reactions.ts';
import { reactor } from '../../src/commands/engine/reactor.ts';
import type { Request } from '../../src/commands/engine/requests.ts';
import { streams as streamsOf } from '../../src/commands/engine/streams.ts';
import { aggregate, type Event } from '../../src/domain/engine/core.ts';
import { nameClaims as claimsAggregate } from '../../src/domain/engine/names.ts';
import { parkedReaction } from '../../src/domain/engine/parkedReactions.ts';
import { RequestError } from '../../src/domain/engine/requestError.ts';
import { nothing } from '../../src/domain/engine/topics.ts';
import { eventHub } from '../../src/events/eventHub.ts';
import { type Projection, projection } from '../../src/projections/engine/define.ts';
import type { Recorded } from '../../src/store/event.ts';
import type { EventStore } from '../../src/store/port.ts';
import { context } from './given.ts';
import { leading } from './leading.ts';
import { shortPauses } from './pauses.ts';

type ThingEvent =
  | Event<'thingMade', { name: string }>
  | Event<'thingNamed', { name: string }>
  | Event<'thingDeleted', Record<string, never>>;

/** The smallest resource with a unique name: what the write path does with names can be seen without anything else. */
export const thing = aggregate<{ name?: string }, ThingEvent>({
  area: 'operations-manager',
  category: 'thing',
  topics: {
    thingMade: ['A thing was made', nothing],
    thingNamed: ['A thing got another name', nothing],
    thingDeleted: ['A thing was deleted', nothing],
  },
  initial: {},
  evolve: { thingMade: (_, { name }) => ({ name }), thingNamed: (_, { name }) => ({ name }), thingDeleted: () => ({}) },
  exists: ({ name }) => name !== undefined,
  names: ({ name }) => (name === undefined ? [] : [{ kind: 'thing', name }]),
});

type BoxEvent = Event<'boxFilled', { things: { id: string; name: string }[] }>;

/** An intent: one event that makes several things. */
export const box = aggregate<{ things: { id: string; name: string }[] }, BoxEvent>({
  area: 'operations-manager',
  category: 'box',
  topics: { boxFilled: ['Things are to be made', nothing] },
  initial: { things: [] },
  evolve: { boxFilled: (_, { things }) => ({ things }) },
  exists: ({ things }) => things.length > 0,
  reservations: ({ things }) => things.map(({ id, name }) => ({ owner: `thing-${id}`, name: { kind: 'thing', name } })),
});

export const things = projection<{ name: string }>()(thing, {
  collection: 'things',
  on: {
    thingMade: (_, { data: { name } }) => {
      if (name === 'unprojectable') throw new Error('cannot be shown');
      return { name };
    },
    thingNamed: (doc, { data: { name } }) => doc && { name },
    thingDeleted: () => undefined,
  },
  sorts: { name: ({ name }) => name },
  filters: { name: ({ name }) => name },
});

const name = Type.Object({ name: Type.String() });
const command = commandsOf(thing);
export const makeThing = command({
  name: 'makeThing',
  input: name,
  on: 'new',
  decide: (_, { name }) => [{ topic: 'thingMade', data: { name } }],
});
export const nameThing = command({
  name: 'nameThing',
  input: name,
  on: 'existing',
  decide: (state, { name }) => (state.name === name ? [] : [{ topic: 'thingNamed', data: { name } }]),
});
export const deleteThing = command({
  name: 'deleteThing',
  input: Type.Object({}),
  on: 'existing',
  decide: () => [{ topic: 'thingDeleted', data: {} }],
});
export const makePart = command({
  name: 'makePart',
  input: name,
  on: 'any',
  decide: (_, { name }) => [{ topic: 'thingMade', data: { name } }],
});
export const fillBox = commandsOf(box)({
  name: 'fillBox',
  input: Type.Any(),
  on: 'new',
  decide: (_, things) => [{ topic: 'boxFilled', data: { things } }],
});

type Thing = { readonly id: string; readonly name: string };

export const boxReaction: Reaction = {
  of: box,
  on: {
    boxFilled: async ({ data }: Recorded<{ readonly things: readonly Thing[] }>) =>
      data.things.map(({ id, name }) => ({ command: makePart, id, input: { name } })),
  },
};

const noTools = { query: async () => [] } as unknown as Tools; // things ask nothing of the world

/** A write path with caches of its own over a store: one node. */
export const writer = (
  store: EventStore,
  {
    reacting = true,
    now = () => new Date().toISOString(),
    shown = [things] as readonly Projection[],
    rest = undefined as ((ms: number) => Promise<void>) | undefined,
    acknowledge = (_: number): void => undefined,
    following = {} as Partial<Parameters<typeof reactor>[0]>,
  } = {},
) => {
  const streams = streamsOf(store, [thing, box, claimsAggregate, parkedReaction], shown);
  const hub = eventHub();
  const handle = handler({
    store,
    streams,
    tools: noTools,
    now,
    follow: hub.stored,
    acknowledge,
    ...(rest && { rest }),
  });
  const reactions = reactor({
    store,
    tools: noTools,
    handle,
    events: streams.events,
    reactions: [boxReaction],
    whenProjected: async () => undefined,
    leadership: leading(),
    ready: async () => undefined,
    pauses: shortPauses,
    log: () => undefined,
    ...following,
  });
  if (reacting) {
    hub.followWith(reactions.follow);
    reactions.start();
  }
  const request = (id: string, input: unknown, more: Partial<Request> = {}): Request => ({
    id,
    input,
    actor: context.actor,
    operation: 'test',
    requestId: 'r',
    ...more,
  });
  return {
    streams,
    reactions,
    make: (id: string, name: string, more?: Partial<Request>) => handle(makeThing, request(id, { name }, more)),
    rename: (id: string, name: string, more?: Partial<Request>) => handle(nameThing, request(id, { name }, more)),
    remove: (id: string, more?: Partial<Request>) => handle(deleteThing, request(id, {}, more)),
    fill: (id: string, things: { id: string; name: string }[], more?: Partial<Request>) =>
      handle(fillBox, request(id, things, more)),
    state: async (id: string) => (await streams.refresh(`thing-${id}`)).state as { name?: string },
    stop: () => reactions.stop(),
  };
};

/** What became of a promise: its value, or the code it was refused with. */
export const outcome = async <T>(work: Promise<T>): Promise<T | string> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RequestError) return error.code;
    throw error;
  }
};
