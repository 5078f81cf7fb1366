import type { Config } from '../config.ts';
import type { ActiveSettings } from '../http/profiles/settings.ts';
import type { SessionRunner } from '../runners/agentSessions.ts';
import type { JobWork } from '../runners/jobs/jobWork.ts';
import type { Lead } from '../runners/logLead.ts';
import type { Schedules } from '../runners/schedules/schedules.ts';
import type { EventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { AuditIndex } from '../store/auditIndex/auditIndex.ts';
import type { OpenedLog } from '../store/open.ts';
import { bootstrap } from './bootstrap.ts';
import type { Node } from './node.ts';
import type { Patiently } from './patience.ts';
import type { ReadModels } from './readModels.ts';
import type { Signing } from './signing.ts';

type Parts = {
  readonly config: Config;
  readonly node: Node;
  readonly opened: OpenedLog;
  readonly readModels: ReadModels;
  readonly settings: ActiveSettings;
  readonly index: Pick<AuditIndex, 'moved'>;
  readonly lead: Lead | undefined;
  readonly sessions: SessionRunner;
  readonly work: JobWork;
  readonly triggers: EventTriggers;
  readonly schedules: Schedules;
  readonly signing: Signing;
  readonly patiently: Patiently;
  /** Shows the admin password of the first start to the operator. */
  readonly tell: (line: string) => void;
};

/** Starts the work of a service, before it takes requests. Each part may use the parts before it. */
export const startInOrder = async (parts: Parts): Promise<void> => {
  const { config, node, opened, readModels, settings, lead, work, triggers, schedules, patiently, tell } = parts;
  const step = (work: () => Promise<unknown>): Promise<unknown> => orDamaged(node, patiently(work));
  // A log that was never opened has no events yet.
  const isUpgrade = node.acknowledged() > 0;
  const mayLead = 'embedded' in opened || !opened.remote.serverLeads();

  node.start();
  parts.index.moved(node.acknowledged());
  readModels.startSnapshots(node.run);
  await step(settings.refresh);
  await step(() => bootstrap({ handle: node.handle, adminPassword: config.ADMIN_PASSWORD, tell }));
  await step(async () => lead?.start());
  node.startReactions();
  parts.sessions.start();
  work.start();
  // From the first request on, every event counts.
  if (mayLead) await step(() => triggers.prepare(isUpgrade));
  triggers.start();
  if (mayLead) await step(schedules.prepare);
  schedules.start();
  parts.signing.start();
};

/** The work's outcome; rejects if the log is damaged. On a damaged log the work might wait for ever. */
const orDamaged = (node: Node, work: Promise<unknown>): Promise<unknown> => {
  const damage = node.run.damaged.then((error) => {
    throw error;
  });
  return Promise.race([work, damage]);
};
