import { endOfProofs, type ProofLog, type WriteProof } from './digestLog.ts';
import type { SigningKeys } from './keys.ts';
import { isLine } from './lines.ts';
import { proofAppends } from './proofAppends.ts';
import { unsignedLines } from './unsignedLines.ts';

type Needs = {
  readonly store: ProofLog;
  readonly keys: SigningKeys;
  readonly now: () => number;
  readonly newId: () => string;
  readonly write: WriteProof;
  /** How many events one signature covers at most. */
  readonly most?: number;
};

/** Signs what a log has after its last signature. Nobody else may write to it. */
export const signAll = async ({ store, keys, now, newId, write, most = 10_000 }: Needs): Promise<void> => {
  const end = await endOfProofs(store);
  const proofs = proofAppends({ store, keys, end, now, newId, write });
  const upTo = end.signed?.upTo.id;
  let isAfter = upTo === undefined;
  let pending = unsignedLines({ events: end.signed?.events ?? 0, digest: end.signed?.digest ?? '' });
  const sign = async (): Promise<void> => {
    const lines = pending;
    pending = unsignedLines(lines.end());
    await proofs.sign(lines);
  };
  for await (const { events } of store.readAll(0)) {
    for (const event of events) {
      if (isAfter && isLine(event)) pending.add(event);
      isAfter ||= event.id === upTo;
      if (pending.lines() === most) await sign();
    }
  }
  if (pending.first()) await sign();
};
