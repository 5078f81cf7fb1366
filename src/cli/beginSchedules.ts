import { randomBytes, randomUUID } from 'node:crypto';
import { resetSchedule } from '../commands/operations-manager/triggerSchedules.ts';
import { platform } from '../domain/engine/core.ts';
import { mayHaveParts } from '../events/ownStreams.ts';
import { openNode } from '../node.ts';
import { project } from '../projections/engine/define.ts';
import { type PlanDoc, schedulePlans } from '../projections/operations-manager/triggerSchedules.ts';
import { passwords } from '../secrets/passwords.ts';
import { secrets } from '../secrets/secrets.ts';
import { decode, splitStream } from '../store/event.ts';
import { withPayloads } from '../store/payloads.ts';
import type { EventStore } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';

const triggerTypes = ['@platform/operations-manager:trigger'];

/** All schedules of a log as they are now, read from the log: without the service there are no read models. */
const plansIn = async (log: EventStore): Promise<readonly PlanDoc[]> => {
  const plans = new Map<string, PlanDoc | undefined>();
  for await (const { events } of log.readAll(0, triggerTypes)) {
    for (const event of events) {
      const { category, id } = splitStream(event.stream);
      if (category !== schedulePlans.of.category) continue;
      try {
        plans.set(id, project(schedulePlans, plans.get(id), decode(event)) as PlanDoc | undefined);
      } catch {
        // The service parks such a trigger, so it has no schedule.
        plans.delete(id);
      }
    }
  }
  return [...plans.values()].filter((plan) => plan !== undefined);
};

/** Begins the enabled schedules in the log of a file now: what was due before is not missed. */
export const beginSchedules = async (file: string): Promise<void> => {
  const since = Date.now();
  const log = withPayloads<EventStore>(await openSqliteStore({ file }), mayHaveParts);
  const node = await openNode({
    log,
    // The command needs only the stream of the schedule, so nothing is projected or sealed.
    projections: [],
    readWaitMs: 0,
    hashing: passwords(),
    secrets: secrets({ key: randomBytes(32) }),
    methods: () => [],
    warn: () => undefined,
  });
  try {
    for (const { trigger: id, cause, enabled } of await plansIn(log)) {
      if (!enabled) continue;
      const about = { actor: platform, operation: resetSchedule.name, requestId: randomUUID(), causation: cause };
      await node.handle(resetSchedule, { ...about, id, input: { since } });
    }
  } finally {
    await node.close();
  }
};
