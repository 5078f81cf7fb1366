import { filters } from '@automation-platform/bounded-schemas';
import { guardedClock } from '@automation-platform/concurrency';
import { createAutomation } from '../../src/commands/operations-manager/automations.ts';
import { triggerRuns } from '../../src/commands/operations-manager/triggerRuns.ts';
import { createTrigger, updateTrigger } from '../../src/commands/operations-manager/triggers.ts';
import { schedules } from '../../src/runners/schedules/schedules.ts';
import type { Recorded } from '../../src/store/event.ts';
import type { EventStore } from '../../src/store/port.ts';
import { leading } from './leading.ts';
import { eventsIn } from './logged.ts';
import type { TestNode } from './node.ts';
import { shortPauses } from './pauses.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Clocks of a machine. They only go on when told to; the wall clock may also be set. */
export const machineClocks = (start: number) => {
  let wall = start;
  let steady = 5000;
  const timers = new Set<{ readonly call: () => void; readonly at: number }>();
  const run = (): void => {
    for (const timer of [...timers]) {
      if (timer.at > steady) continue;
      timers.delete(timer);
      timer.call();
    }
  };
  return {
    now: () => wall,
    monotonic: () => steady,
    timer: (call: () => void, ms: number): (() => void) => {
      const timer = { call, at: steady + ms };
      timers.add(timer);
      // A timer that is due at once needs no further time to pass.
      if (ms <= 0) setImmediate(run);
      return () => void timers.delete(timer);
    },
    /** Whether somebody waits for time to pass. */
    isAwaited: () => timers.size > 0,
    /** Time goes on. Timers are late then, as they are on a machine that was suspended. */
    pass: (ms: number): void => {
      wall += ms;
      steady += ms;
      run();
    },
    /** Somebody sets the wall clock to a time. */
    set: (to: number): void => {
      wall = to;
    },
  };
};

export type Clocks = ReturnType<typeof machineClocks>;

/** What starts the jobs of triggers, on a node of a test. */
export const triggerRunsOn = ({ handle, tools }: TestNode) =>
  triggerRuns({ handle, tools, filters: filters(10), evaluate: async () => ({}), now: Date.now });

/** Schedules on a node of a test. */
export const schedulesOn = (
  node: TestNode,
  store: EventStore,
  clocks: Clocks,
  { newest, ...more }: Partial<Parameters<typeof schedules>[0]> & { readonly newest?: number | undefined } = {},
) => {
  const log =
    more.log ??
    ((message: string, about: unknown) => {
      if (process.env.TEST_LOG) console.error(message, about);
    });
  const clock = guardedClock({
    now: clocks.now,
    monotonic: clocks.monotonic,
    newest,
    onJump: (jump) => log('The clock has jumped', jump),
    every: () => () => undefined,
  });
  const running = schedules({
    store,
    model: node.model,
    handle: node.handle,
    tools: node.tools,
    run: triggerRunsOn(node).run,
    ran: () => undefined,
    viewerOf: async (id) => ({ actor: { id, username: id, provenance: 'local', groups: [], admin: true } }),
    leadership: leading(),
    ready: node.run.whenReady,
    outcome: () => undefined,
    guardedClock: clock,
    timer: clocks.timer,
    pauses: shortPauses,
    log,
    ...more,
  });
  return { ...running, clock };
};

/** What people do with schedules, on a node of a test. Ids are names. */
export const plannersOn = (node: TestNode) => ({
  automation: (name: string, more: object = {}) => node.command(createAutomation, name, { name, ...more }),
  schedule: (id: string, more: object) =>
    node.command(createTrigger, id, {
      name: id,
      type: 'schedule',
      enabled: true,
      actionType: 'automations',
      actionId: 'a',
      formId: null,
      formData: null,
      processMissedRuns: 'none',
      ...more,
    }),
  change: (id: string, patch: object) => node.command(updateTrigger, id, patch),
});

export type Schedules = ReturnType<typeof schedulesOn>;

/** The events of some topics in the log. */
export const eventsOf = async (
  store: Pick<EventStore, 'readAll'>,
  ...topics: readonly string[]
): Promise<readonly Recorded<any>[]> => {
  const found = await eventsIn(store);
  return found.filter(({ topic }) => topics.includes(topic));
};
