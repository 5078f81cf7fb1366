import assert from 'node:assert/strict';
import { compileUserSchema, filters } from '@automation-platform/bounded-schemas';
import { updateAccount } from '../../src/commands/authorization/accounts.ts';
import {
  createAutomation,
  deleteAutomation,
  updateAutomation,
} from '../../src/commands/operations-manager/automations.ts';
import { jobIdOf, mayFire } from '../../src/commands/operations-manager/firing.ts';
import { publishEvent } from '../../src/commands/operations-manager/publishedEvents.ts';
import { type Run, type TriggerRuns, triggerRuns } from '../../src/commands/operations-manager/triggerRuns.ts';
import { createTrigger, deleteTrigger, updateTrigger } from '../../src/commands/operations-manager/triggers.ts';
import type { Actor } from '../../src/domain/engine/core.ts';
import { areas } from '../../src/http/areas.ts';
import { eventAccess } from '../../src/http/events/eventAccess.ts';
import { eventTriggers } from '../../src/runners/triggers/eventTriggers.ts';
import { type Recorded, splitStream } from '../../src/store/event.ts';
import type { EventStore } from '../../src/store/port.ts';
import { leading } from './leading.ts';
import type { TestNode } from './node.ts';
import { shortPauses } from './pauses.ts';

type Options = Partial<Parameters<typeof eventTriggers>[0]>;

export const fits = (schema: object | boolean, payload: unknown): boolean => {
  const compiled = compileUserSchema(schema);
  return compiled.ok && compiled.matches(payload).valid;
};

/** Who may see which events, on a node of a test. */
export const accessOn = (node: TestNode, log: EventStore) =>
  eventAccess({ ...node, log }, { areas, accountNow: node.auth.accountNow });

/** The starts of jobs by triggers, on a node of a test. */
export const runsOn = ({ handle, tools }: TestNode): TriggerRuns =>
  triggerRuns({ handle, tools, filters: filters(10), evaluate: async () => ({}), now: Date.now });

/** Event triggers on a node of a test. Call `prepare` first if the log is new. */
export const triggersOn = (node: TestNode, store: EventStore, more: Options = {}) => {
  const { viewerOf, sees, isForSomebody } = accessOn(node, store);
  const { run } = runsOn(node);
  return eventTriggers({
    store,
    handle: node.handle,
    tools: node.tools,
    events: node.events,
    run,
    ran: () => undefined,
    fits,
    mayFire: (event) => mayFire(event) && isForSomebody(event),
    viewerOf,
    sees,
    whenProjected: async (position) => node.settled(position),
    decidedAtOnce: () => 3,
    rate: 1_000_000,
    leadership: leading(),
    ready: node.run.whenReady,
    pauses: shortPauses,
    log: (message, about) => {
      if (process.env.TEST_LOG) console.error(message, about);
    },
    info: () => undefined,
    ...more,
  } as Parameters<typeof eventTriggers>[0]);
};

/** A function that fails for some runs, in the place of the one that starts jobs. */
export const failingRun =
  (node: TestNode, fails: (run: Run) => boolean): TriggerRuns['run'] =>
  async (run) => {
    if (fails(run)) throw new Error('poison');
    return runsOn(node).run(run);
  };

/** What people do, on a node of a test. Ids are names. */
export const peopleOn = (node: TestNode) => ({
  automation: (name: string, more: object = {}) => node.command(createAutomation, name, { name, ...more }),
  changeAutomation: (name: string, patch: object) => node.command(updateAutomation, name, patch),
  noAutomation: (name: string) => node.command(deleteAutomation, name),
  trigger: (id: string, more: object = {}, actor?: Partial<Actor>) =>
    node.command(
      createTrigger,
      id,
      {
        name: id,
        type: 'eventSystem',
        enabled: true,
        actionType: 'automations',
        actionId: 'a',
        source: 's',
        topic: 't',
        schema: null,
        jst: null,
        ...more,
      },
      { actor: { id: 'runner', username: 'runner', provenance: 'local', groups: [], admin: true, ...actor } },
    ),
  change: (id: string, patch: object, actor = 'runner') =>
    node.command(updateTrigger, id, patch, {
      actor: { id: actor, username: actor, provenance: 'local', groups: [], admin: true },
    }),
  changeAccount: (id: string, patch: object) => node.command(updateAccount, id, patch),
  noTrigger: (id: string) => node.command(deleteTrigger, id),
  publish: async (
    id: string,
    payload: unknown = {},
    more: { source?: string; topic?: string; depth?: number; correlation?: string } = {},
  ) => {
    const { source = 's', topic = 't', depth, correlation } = more;
    const done = await node.command(publishEvent, id, { source, topic, payload }, { depth, correlation });
    return done.event!;
  },
});

/** What came of triggers, by what is in the log: jobs as `<trigger> <event>`, refusals by trigger and reason. */
export const outcomeIn = (events: readonly Recorded<any>[]) => {
  const jobs: string[] = [];
  const refused: Record<string, number> = {};
  const parked: string[] = [];
  for (const { stream, topic, data } of events) {
    const { category, id } = splitStream(stream);
    if (topic === 'jobStarted' && data.trigger !== null) {
      assert.equal(id, jobIdOf(data.trigger, data.event));
      jobs.push(`${data.trigger} ${data.event}`);
    }
    if (topic === 'runsRefused' && category === 'triggerRuns') {
      const key = `${id} ${data.reason}`;
      refused[key] = (refused[key] ?? 0) + data.count;
    }
    if (topic === 'reactionParked' && data.trigger !== undefined) parked.push(`${data.trigger} ${id}`);
  }
  return { jobs, refused, parked };
};

/** What the triggers should have done, by a model that folds the log in the simplest way. */
export const expectedOf = (events: readonly Recorded<any>[], accounts: readonly string[]) => {
  const triggers = new Map<string, { readonly content: any; readonly account: string }>();
  const depths = new Map<string, number>();
  const jobs = new Set<string>();
  const refused: Record<string, number> = {};
  for (const { id: event, stream, source, topic, data, metadata } of events) {
    const { category, id } = splitStream(stream);
    if (topic === 'triggerCreated') triggers.set(id, { content: data, account: metadata.actor.id });
    if (topic === 'triggerChanged')
      triggers.set(id, { content: { ...triggers.get(id)!.content, ...data }, account: metadata.actor.id });
    if (topic === 'triggerDeleted') triggers.delete(id);
    if (topic === 'jobStarted') depths.set(id, data.depth ?? 0);
    const depth = category === 'job' ? depths.get(id)! : (metadata.depth ?? 0);
    for (const [trigger, { content, account }] of triggers) {
      if (!content.enabled || content.source !== source || content.topic !== topic) continue;
      if (content.schema !== null && !fits(content.schema, data)) continue;
      const refuse = (reason: string): void => {
        refused[`${trigger} ${reason}`] = (refused[`${trigger} ${reason}`] ?? 0) + 1;
      };
      if (!accounts.includes(account)) refuse('rights');
      else if (depth >= 8) refuse('loop');
      else if (content.jst?.unknown) refuse('transformation');
      else jobs.add(`${trigger} ${event}`);
    }
  }
  return { jobs: [...jobs].sort(), refused, parked: [] };
};

/** The same of what is in the log. */
export const sortedOutcome = (events: readonly Recorded<any>[]) => {
  const { jobs, refused, parked } = outcomeIn(events);
  return { jobs: [...jobs].sort(), refused, parked };
};

const startsOf = (...ids: readonly string[]) => ({
  source: '@platform/operations-manager',
  topic: 'jobStarted',
  schema: { type: 'object', required: ['trigger'], properties: { trigger: { enum: ids } } },
});

/** Twenty triggers that wait for events of `s:t`: most start jobs, some are refused, one fires on its own jobs. */
export const twentyTriggers: readonly { readonly id: string; readonly more: object; readonly account?: string }[] = [
  ...Array.from({ length: 14 }, (_, n) => ({ id: `plain${n}`, more: {} })),
  { id: 'odd', more: { schema: { type: 'object', properties: { n: { type: 'integer', multipleOf: 2 } } } } },
  { id: 'loop', more: startsOf('plain0', 'loop') },
  { id: 'after', more: startsOf('plain1') },
  { id: 'nobody1', more: {}, account: 'nobody' },
  { id: 'nobody2', more: {}, account: 'nobody' },
  { id: 'unknown', more: { jst: { unknown: 1 } } },
];
