import { randomUUID } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Node } from '../node.ts';
import { type AnchorStatus, anchoring } from '../runners/signing/anchoring.ts';
import { type SigningStatus, signer } from '../runners/signing/signer.ts';
import type { OpenedLog } from '../store/open.ts';
import { tellAnchor } from '../store/proof/anchor.ts';
import { fingerprintOf, type SigningKeys } from '../store/proof/keys.ts';

type Needs = {
  readonly config: Pick<Config, 'AUDIT_ANCHOR'>;
  readonly keys: SigningKeys;
  readonly node: Node;
  readonly opened: OpenedLog;
  readonly warn: (message: string, about: Record<string, unknown>) => void;
};

/** What health says of the proof of the log. */
type AuditStatus = SigningStatus & { readonly key: string; readonly anchor: AnchorStatus | null };

/** The signing of the log, and the telling of its anchor. */
export type Signing = {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  readonly status: () => AuditStatus;
};

/** Signs the log of a service, and tells its anchor if it has one. */
export const signingOf = ({ config, keys, node, opened, warn }: Needs): Signing => {
  // Signatures are over the events as they are stored, so large ones are not put together here.
  const store = 'embedded' in opened ? opened.embedded : opened.remote;
  const { leadership } = node;
  const { AUDIT_ANCHOR: at } = config;
  const anchor = at && anchoring({ store, leadership, tell: (line, stop) => tellAnchor(at, line, stop), log: warn });
  const signing = signer({
    store,
    keys,
    leadership,
    ready: node.run.whenReady,
    onSigned: () => anchor?.wake(),
    now: Date.now,
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
    status: () => ({
      ...signing.status(),
      key: fingerprintOf(keys.own.key),
      anchor: anchor?.status() ?? null,
    }),
  };
};
