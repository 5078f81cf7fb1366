import type { Logger } from 'pino';
import { mayFire } from '../commands/operations-manager/firing.ts';
import type { TriggerRuns } from '../commands/operations-manager/triggerRuns.ts';
import type { Filters } from '../commands/user-schemas/filters.ts';
import type { Config } from '../config.ts';
import type { Metrics } from '../http/engine/metrics.ts';
import type { EventAccess } from '../http/events/eventAccess.ts';
import type { Settings } from '../http/profiles/settings.ts';
import { type EventTriggers, eventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { Node } from './node.ts';
import type { Runs } from './runs.ts';

type Needs = {
  readonly config: Pick<Config, 'TRIGGER_RATE'>;
  readonly node: Node;
  readonly settings: () => Pick<Settings, 'eventWorkerCount'>;
  readonly runs: Runs;
  readonly filters: Pick<Filters, 'of'>;
  readonly access: EventAccess;
  readonly metrics: Pick<Metrics, 'ran'>;
  readonly logger: Logger;
};

/** The reader of the log that fires event triggers. */
export const eventTriggersOf = ({
  config,
  node,
  settings,
  runs,
  filters,
  access,
  metrics,
  logger,
}: Needs): EventTriggers =>
  eventTriggers({
    store: node.log,
    handle: node.handle,
    tools: node.tools,
    events: node.events,
    run: runs.run,
    ran: runs.ran,
    // A filter that an earlier version has taken, and that cannot be compiled, lets nothing pass.
    fits: (schema, payload) => {
      const filter = filters.of(schema);
      return filter.ok && filter.matches(payload).valid;
    },
    mayFire: (event) => mayFire(event) && access.isForSomebody(event),
    viewerOf: access.viewerOf,
    sees: access.sees,
    reached: async (position) => node.settled(position),
    decidedAtOnce: () => settings().eventWorkerCount,
    rate: config.TRIGGER_RATE,
    leadership: node.leadership,
    ready: node.run.whenReady,
    outcome: (outcome) => metrics.ran('eventSystem', outcome),
    log: (message, about) => logger.warn(about, message),
    info: (message, about) => logger.info(about, message),
  });

/** The runs that requests ask for, counted. */
export const countedRuns = (runs: Runs, { ran }: Pick<Metrics, 'ran'>): Runs => {
  const run: TriggerRuns['run'] = async (one) => {
    const { type } = one.trigger.content;
    try {
      const done = await runs.run(one);
      ran(type, 'refused' in done ? done.refused.reason : 'job');
      return done;
    } catch (error) {
      ran(type, 'failed');
      throw error;
    }
  };
  return { ...runs, run };
};
