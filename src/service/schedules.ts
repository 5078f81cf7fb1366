import type { Logger } from 'pino';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Metrics } from '../http/engine/metrics.ts';
import type { EventAccess } from '../http/events/eventAccess.ts';
import { type Schedules, schedules } from '../runners/schedules/schedules.ts';
import type { Node } from './node.ts';
import type { Runs } from './runs.ts';

type Needs = {
  readonly node: Node;
  readonly clock: GuardedClock;
  readonly runs: Runs;
  readonly access: Pick<EventAccess, 'viewerOf'>;
  readonly metrics: Pick<Metrics, 'ran'>;
  readonly logger: Logger;
};

/** The schedules of a service. */
export const schedulesOf = ({ node, clock, runs, access, metrics, logger }: Needs): Schedules =>
  schedules({
    store: node.log,
    model: node.model,
    handle: node.handle,
    tools: node.tools,
    run: runs.run,
    ran: runs.ran,
    viewerOf: access.viewerOf,
    leadership: node.leadership,
    ready: node.run.whenReady,
    outcome: (outcome) => metrics.ran('schedule', outcome),
    guardedClock: clock,
    timer: (call, ms) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    log: (message, about) => logger.warn(about, message),
  });
