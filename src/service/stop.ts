import type { Parts } from './parts.ts';
import type { ServedLog } from './servedLog.ts';

type Server = { readonly stop: (ms: number) => Promise<void> };

/**
 * Ends a service in this order: new requests, streams of events, answers in progress, sessions, triggers, schedules and
 * reactions, notes of runs, records of requests, signatures, ways out, reads of earlier times, the audit index,
 * the lead, projections, stores. Each part may use the parts after it.
 */
export const stopInOrder = async (parts: Parts, server: Server, served: ServedLog | undefined): Promise<void> => {
  const { stopping, streaming, auth, settings, sessions, work, triggers, schedules, runs, recorder, out } = parts;
  const { signing, readModels, node } = parts;
  stopping.abort();
  streaming.stop();
  parts.jobReaders.stop();
  work.stopWaiting();
  readModels.pauseSnapshots();
  await finishRequests(parts, server, served);
  await out.devices.close();
  auth.stop();
  // The end of a session and the start of a job may cause reactions, so these stop together: none waits for another.
  await Promise.all([sessions.stop(), work.stop(), triggers.stop(), schedules.stop(), node.stopReactions()]);
  await Promise.all([runs.stop(), recorder.stop()]);
  await signing.stop();
  settings.stop();
  await out.renderer.close();
  await out.simulator.close();
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
const finishRequests = async (
  { settings, work, out }: Parts,
  server: Server,
  served: ServedLog | undefined,
): Promise<void> => {
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
