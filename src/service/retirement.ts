import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Log } from '../concurrency/log.ts';
import type { Config } from '../config.ts';
import { projections } from '../projections/all.ts';
import { type Retirement, retirement } from '../runners/retirement.ts';
import type { Node } from './node.ts';

/** The retirement of what has ended. */
export const retirementOf = (
  node: Node,
  { RETENTION_DAYS: days }: Pick<Config, 'RETENTION_DAYS'>,
  clock: GuardedClock,
  log: Log,
): Retirement =>
  retirement({
    handle: node.handle,
    tools: node.tools,
    model: node.model,
    kinds: projections.filter(({ retires }) => retires),
    leadership: node.leadership,
    ready: node.run.whenReady,
    head: node.head,
    settled: node.settled,
    days,
    clock,
    log,
  });
