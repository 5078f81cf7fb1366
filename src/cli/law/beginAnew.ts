import { randomUUID } from 'node:crypto';
import { endOfProofs, proofAppends, signAll } from '@automation-platform/log-proof';
import { auditKeySource, type Config } from '../../config.ts';
import { tellAnchor, tellRest } from '../../store/anchor.ts';
import type { CopyEnd } from '../../store/moving/appends.ts';
import { proofEvent } from '../../store/proofEvent.ts';
import { keysOrNew } from '../../store/signingKeys.ts';
import type { Plan } from './plan.ts';

/** The settings that a log is signed with. */
export type RewriteConfig = Pick<Config, 'AUDIT_KEY' | 'AUDIT_ANCHOR' | 'DATA_DIR'>;

type Needs = {
  readonly from: CopyEnd;
  readonly to: CopyEnd;
  readonly plan: Plan;
  readonly config: RewriteConfig;
  readonly signal: AbortSignal;
};

const removedIn = ({ removed: { accounts, jobs, events } }: Plan): readonly string[] => [
  ...accounts.map((id) => `account ${id} is forgotten`),
  ...(jobs ? [`${jobs.count} jobs before ${jobs.before} are left out`] : []),
  ...(events ? [`${events.count} published events before ${events.before} are left out`] : []),
];

/**
 * Begins the signatures of a copy anew: says what was removed, signs all of it, and tells the anchor. Returns what
 * there is to say.
 */
export const beginAnew = async ({ from, to, plan, config, signal }: Needs): Promise<readonly string[]> => {
  const keys = keysOrNew(auditKeySource(config));
  const now = Date.now;
  const end = await endOfProofs(to);
  if (end.revision < 0) {
    const { signed, key = null } = await endOfProofs(from);
    const data = { removed: plan.removed, digest: signed?.digest ?? null, key };
    await proofAppends({ store: to, keys, end, now, newId: randomUUID, write: proofEvent }).append({
      topic: 'logRewritten',
      data,
    });
  }
  await signAll({ store: to, keys, now, newId: randomUUID, write: proofEvent });
  const report = [...removedIn(plan), 'The old log, its backups and exports still have what was removed: delete them'];
  const { AUDIT_ANCHOR: at } = config;
  if (!at) return report;
  try {
    await tellRest({ store: to, at, tell: (line, stop) => tellAnchor(at, line, stop), left: () => undefined }, signal);
    return report;
  } catch (error) {
    return [...report, `The anchor was not told; the service tells it when it starts: ${(error as Error).message}`];
  }
};
