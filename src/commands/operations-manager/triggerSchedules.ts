import { Type } from 'typebox';
import { reset, set, settle, triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { schedulePlans, triggerSchedules } from '../../projections/operations-manager/triggerSchedules.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';

const command = commandsOf(triggerSchedule);

/** The id of the job that an instant of a trigger starts. It follows from both, so there is never a second one. */
export const jobOfInstant = (trigger: string, instant: number): string => derivedId(`job ${trigger} ${instant}`);

/** The trigger as it is now, and the state of the stream. Both are read from the log. */
const present = async (id: string, tools: Tools) => {
  const [plan, runs] = await Promise.all([tools.shown(schedulePlans, id), tools.shown(triggerSchedules, id)]);
  return { plan, runs };
};

/**
 * Begins a schedule anew, once for each `cause`: the event that has changed when the trigger runs. Only the last such
 * event counts. `begun`: when that was.
 */
export const setSchedule = command({
  name: 'setSchedule',
  input: Type.Object({ begun: Type.Integer(), cause: Type.String() }),
  on: 'any',
  decide: set,
  prepare: async ({ id, input: { cause } }, tools) => {
    const { plan, runs } = await present(id, tools);
    return { isNew: plan?.cause === cause && runs?.cause !== cause };
  },
});

/** Begins a schedule anew in a log that brings back a past. The cause stays, so the reaction to it does nothing. */
export const resetSchedule = command({
  name: 'resetSchedule',
  input: Type.Object({ since: Type.Integer() }),
  on: 'any',
  decide: reset,
});

/**
 * Settles what is due at the time `now`. `wait`: when the clock of this node has waited last. The append decides: of
 * several nodes one succeeds.
 */
export const settleSchedule = command({
  name: 'settleSchedule',
  input: Type.Object({
    now: Type.Integer(),
    wait: Type.Optional(Type.Object({ since: Type.Integer(), until: Type.Integer() })),
  }),
  on: 'any',
  decide: settle,
  prepare: async ({ id }, tools) => {
    const { plan, runs } = await present(id, tools);
    return {
      // A change of the timing, from which the stream does not follow yet.
      plan: plan && plan.cause === runs?.cause ? plan : undefined,
      jobOf: (instant: number) => jobOfInstant(id, instant),
    };
  },
});

/** A schedule begins when a trigger says anew when it runs. */
const beginAnew = async ({ id: event, stream }: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id } = splitStream(stream);
  const plan = await tools.shown(schedulePlans, id);
  if (plan?.cause !== event) return [];
  return [{ command: setSchedule, id, input: { begun: Date.parse(plan.at), cause: event } }];
};

export const scheduleReactions: readonly Reaction[] = [
  { of: trigger, on: { triggerCreated: beginAnew, triggerChanged: beginAnew, triggerRestored: beginAnew } },
];
