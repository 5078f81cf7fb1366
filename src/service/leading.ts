import { randomUUID } from 'node:crypto';
import { newLeadership } from '../concurrency/leadership.ts';
import type { Log } from '../concurrency/log.ts';
import { type Lead, logLead } from '../runners/logLead.ts';
import type { OpenedLog } from '../store/open.ts';

type Needs = {
  readonly opened: OpenedLog;
  /** True if nodes share their read models. */
  readonly isShared: boolean;
  /** The name of this node, the same after each start. */
  readonly node: string;
  readonly warn: Log;
};

/** A lead that never changes. */
const constant = (held: boolean): Lead => ({
  ...newLeadership(held),
  onStored: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
});

/**
 * Who does what one process alone should do: the process of an embedded log, for all nodes that use it; else whoever
 * writes shared read models (undefined); else whoever says so in the log.
 */
export const leadOf = ({ opened, isShared, node, warn }: Needs): Lead | undefined => {
  if ('embedded' in opened) return constant(true);
  const { remote } = opened;
  if (isShared) return remote.serverLeads() ? constant(false) : undefined;
  // Another version of the program may serve the log at the next connection.
  const mayLead = (): boolean => !remote.serverLeads();
  return logLead({ notes: remote.lead, me: { node, process: randomUUID() }, mayLead, log: warn });
};
