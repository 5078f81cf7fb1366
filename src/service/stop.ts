import type { Authenticator } from '../http/authentication/authenticate.ts';
import type { ActiveSettings } from '../http/profiles/settings.ts';
import type { Node } from '../node.ts';
import type { SessionRunner } from '../runners/agentSessions.ts';
import type { ServedLog } from '../servedLog.ts';
import type { ReadModels } from './readModels.ts';
import type { WaysOut } from './waysOut.ts';

/** What runs while the service does. */
type Parts = {
  readonly stopping: AbortController;
  readonly server: { readonly stop: (ms: number) => Promise<void> };
  readonly served: ServedLog | undefined;
  readonly auth: Authenticator;
  readonly settings: ActiveSettings;
  readonly sessions: SessionRunner;
  readonly out: WaysOut;
  readonly readModels: ReadModels;
  readonly node: Node;
};

/**
 * Ends a service: no new requests, then answers under way, sessions and reactions, ways out, projections, stores. Each
 * of them may use those that come after it.
 */
export const stopInOrder = async (parts: Parts): Promise<void> => {
  const { stopping, auth, settings, sessions, out, readModels, node } = parts;
  stopping.abort();
  readModels.pauseSnapshots();
  await finishRequests(parts);
  await out.devices.close();
  auth.stop();
  // What ends with a session may follow from it: neither waits for the other.
  await Promise.all([sessions.stop(), node.stopReactions()]);
  settings.stop();
  await out.renderer.close();
  await readModels.stopSnapshots();
  await node.close();
};

/**
 * Waits for answers under way. Calls of devices are broken off while their outcome can still be stored and answered.
 */
const finishRequests = async ({ server, served, settings, out }: Parts): Promise<void> => {
  const { shutdownMs } = settings.current();
  const patience = setTimeout(() => void out.devices.close(), shutdownMs / 2);
  await Promise.all([server.stop(shutdownMs), served?.close()]);
  clearTimeout(patience);
};
