import { parkedReaction } from '../domain/engine/parkedReactions.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { triggerSchedule } from '../domain/operations-manager/triggerSchedules.ts';
import type { ParkedRuns } from '../http/engine/service.ts';
import type { Schedules } from '../runners/schedules/schedules.ts';
import type { EventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { Retried } from '../runners/triggers/retrying.ts';
import { splitStream } from '../store/event.ts';
import { isUnusable } from '../store/tampered.ts';
import type { Node } from './node.ts';

type Retries = Pick<EventTriggers | Schedules, 'retry'>;

/** The answer where a stream that a run needs cannot be read: another try does not help. */
const unusable = (error: unknown): Retried => {
  if (!isUnusable(error)) throw error;
  return { job: null, refused: { reason: 'unusable', message: error.message } };
};

/** What routes need of parked runs and reactions. */
export const parkedRunsOf = (
  { log, tools, retryReaction }: Node,
  { triggers, schedules }: { readonly triggers: Retries; readonly schedules: Retries },
): ParkedRuns => ({
  eventOf: async (stream, revision) => {
    for await (const events of log.read(stream, revision)) return events.find((event) => event.revision === revision);
    return undefined;
  },
  retry: async (id, about) => {
    const { parked, parking } = await tools.state(parkedReaction, id);
    if (!parked || !parking) throw new RequestError('not_found', 'No such parked run');
    if (splitStream(parking.stream).category === triggerSchedule.category)
      return schedules.retry(id, about).catch(unusable);
    if (parking.trigger !== undefined) return triggers.retry(id, about).catch(unusable);
    await retryReaction({ event: id, ...parking });
    return { job: null, refused: null };
  },
});
