import type { RequestRecorder } from '../commands/authorization/requestRecorder.ts';
import type { Authenticator } from '../http/authentication/authenticate.ts';
import type { EventStream } from '../http/events/eventStream.ts';
import type { JobReaders } from '../http/operations-manager/jobReaders.ts';
import type { ActiveSettings } from '../http/profiles/settings.ts';
import type { SessionRunner } from '../runners/agentSessions.ts';
import type { JobWork } from '../runners/jobs/jobWork.ts';
import type { Lead } from '../runners/logLead.ts';
import type { Schedules } from '../runners/schedules/schedules.ts';
import type { EventTriggers } from '../runners/triggers/eventTriggers.ts';
import type { AuditIndex } from '../store/auditIndex/auditIndex.ts';
import type { BackInTime } from './backInTime.ts';
import type { Node } from './node.ts';
import type { ReadModels } from './readModels.ts';
import type { Rebuilding } from './rebuilding.ts';
import type { Runs } from './runs.ts';
import type { ServedLog } from './servedLog.ts';
import type { Signing } from './signing.ts';
import type { WaysOut } from './waysOut.ts';

/** The parts of a running service. */
type Parts = {
  readonly stopping: AbortController;
  readonly streaming: Pick<EventStream, 'stop'>;
  readonly server: { readonly stop: (ms: number) => Promise<void> };
  readonly served: ServedLog | undefined;
  readonly auth: Authenticator;
  readonly settings: ActiveSettings;
  readonly sessions: SessionRunner;
  readonly work: JobWork;
  readonly jobReaders: Pick<JobReaders, 'stop'>;
  readonly triggers: EventTriggers;
  readonly signing: Pick<Signing, 'stop'>;
  readonly schedules: Schedules;
  readonly runs: Runs;
  readonly recorder: Pick<RequestRecorder, 'stop'>;
  readonly out: WaysOut;
  readonly past: Pick<BackInTime, 'stop'>;
  readonly index: Pick<AuditIndex, 'stop'>;
  readonly readModels: ReadModels;
  readonly rebuilding: Pick<Rebuilding, 'stop'>;
  readonly lead: Pick<Lead, 'stop'> | undefined;
  readonly node: Node;
};

/**
 * Ends a service in this order: new requests, streams of events, answers in progress, sessions, triggers, schedules and
 * reactions, notes of runs, records of requests, signatures, ways out, reads of earlier times, the audit index,
 * the lead, projections, stores. Each part may use the parts after it.
 */
export const stopInOrder = async (parts: Parts): Promise<void> => {
  const { stopping, streaming, auth, settings, sessions, work, triggers, schedules, runs, recorder, out } = parts;
  const { signing, readModels, node } = parts;
  stopping.abort();
  streaming.stop();
  parts.jobReaders.stop();
  work.stopWaiting();
  readModels.pauseSnapshots();
  await finishRequests(parts);
  await out.devices.close();
  auth.stop();
  // The end of a session and the start of a job may cause reactions, so these stop together: none waits for another.
  await Promise.all([sessions.stop(), work.stop(), triggers.stop(), schedules.stop(), node.stopReactions()]);
  await Promise.all([runs.stop(), recorder.stop()]);
  await signing.stop();
  settings.stop();
  await out.renderer.close();
  await parts.past.stop();
  await parts.index.stop();
  await parts.rebuilding.stop();
  await readModels.stopSnapshots();
  await parts.lead?.stop();
  await node.close();
};

/**
 * Waits for answers in progress, and for commands of jobs. Calls of devices are ended after half the time, so that their
 * outcome can still be stored and answered.
 */
const finishRequests = async ({ server, served, settings, work, out }: Parts): Promise<void> => {
  const { shutdownMs } = settings.current();
  const endCalls = (): void => {
    // First of all: what runs here must not take the end of a call for an answer.
    work.breakOff();
    void out.devices.close();
  };
  const patience = setTimeout(endCalls, shutdownMs / 2);
  await Promise.all([server.stop(shutdownMs), served?.close(), work.leave()]);
  clearTimeout(patience);
};
