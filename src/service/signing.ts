import { randomUUID } from 'node:crypto';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Log } from '../concurrency/log.ts';
import type { Config } from '../config.ts';
import { anchoring } from '../runners/signing/anchoring.ts';
import { signer } from '../runners/signing/signer.ts';
import type { OpenedLog } from '../store/open.ts';
import { tellAnchor } from '../store/proof/anchor.ts';
import { fingerprintOf, type SigningKeys } from '../store/proof/keys.ts';
import type { HealthPart } from './monitor.ts';
import type { Node } from './node.ts';

type Needs = {
  readonly config: Pick<Config, 'AUDIT_ANCHOR'>;
  readonly keys: SigningKeys;
  readonly node: Node;
  readonly clock: Pick<GuardedClock, 'now'>;
  readonly opened: OpenedLog;
  readonly warn: Log;
};

/** The signing of the log, and the telling of its anchor. */
export type Signing = HealthPart & {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
};

/** Signs the log of a service, and tells its anchor if it has one. */
export const signingOf = ({ config, keys, node, clock, opened, warn }: Needs): Signing => {
  // Signatures are over the events as they are stored, so large ones are not put together here.
  const store = 'embedded' in opened ? opened.embedded : opened.remote;
  const { leadership } = node;
  const { AUDIT_ANCHOR: at } = config;
  const anchor =
    at && anchoring({ store, leadership, at, tell: (line, stop) => tellAnchor(at, line, stop), log: warn });
  const signing = signer({
    store,
    keys,
    leadership,
    ready: node.run.whenReady,
    onSigned: () => anchor?.wake(),
    now: clock.now,
    newId: randomUUID,
    log: warn,
  });
  return {
    start: () => {
      signing.start();
      anchor?.start();
    },
    stop: async () => {
      await Promise.all([signing.stop(), anchor?.stop()]);
    },
    measures: {
      audit_unsigned_events: {
        help: 'Events that no signature covers yet, on the node that leads',
        value: () => signing.status().unsigned ?? 0,
      },
      audit_anchor_lag: {
        help: 'Signatures that the anchor was not told yet, on the node that leads',
        value: () => anchor?.status().lag ?? 0,
      },
    },
    status: async () => ({
      audit: { ...signing.status(), key: fingerprintOf(keys.own.key), anchor: anchor?.status() ?? null },
    }),
  };
};
