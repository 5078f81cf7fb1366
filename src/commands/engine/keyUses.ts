import type { Recorded } from '../../store/event.ts';
import type { KeyUse } from './loaded.ts';

const keptHours = 24;

/**
 * Notes the idempotency keys of the events. Keys of creates and of reactions are kept for good, others for at least 24
 * h.
 */
export const remember = (keys: Map<string, KeyUse>, events: readonly Recorded[]): void => {
  for (const {
    revision,
    metadata: { at, idempotency },
  } of events) {
    if (!idempotency) continue;
    const { key, request } = idempotency;
    keys.set(key, { request, first: keys.get(key)?.first ?? revision, last: revision, at });
    const oldest = new Date(Date.parse(at) - keptHours * 3_600_000).toISOString();
    for (const [old, use] of keys) {
      if (use.first === 0 || old.startsWith('part:')) continue;
      if (use.at >= oldest) break;
      keys.delete(old);
    }
  }
};
