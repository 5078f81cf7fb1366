import type { Recorded } from '../../store/event.ts';
import { causeOf, isFollowUp } from './followUps.ts';

/** The use of an Idempotency-Key in a stream: the keyed digest of the request, and the revisions of its events. */
export type KeyUse = { readonly request: string; readonly first: number; readonly last: number };

type Expiring = KeyUse & { readonly at: string };

const keptHours = 24;
// About what a key takes in memory besides its text, and what such a text takes besides its letters (measured).
const useBytes = 150;

/**
 * The idempotency keys of a stream. Keys of creates and of reactions are kept for good, others for at least 24 h. A
 * stream may have very many keys that are kept for good, so nothing ever walks over these.
 */
export const keyUses = () => {
  const uses = new Map<string, KeyUse>();
  // In the order of their first events, and so in the order in which they expire.
  const expiring = new Map<string, Expiring>();
  // For each stream: the highest revision of an event whose reactions have changed this stream. Few streams are asked
  // for it, so keys wait here unread until then.
  const followed = new Map<string, number>();
  let unread: string[] = [];
  let bytes = 0;

  const get = (key: string): KeyUse | undefined => uses.get(key) ?? expiring.get(key);

  /** Forgets the keys that have expired. */
  const expire = (now: string): void => {
    const oldest = new Date(Date.parse(now) - keptHours * 3_600_000).toISOString();
    for (const [key, { at }] of expiring) {
      if (at >= oldest) break;
      expiring.delete(key);
      bytes -= useBytes + key.length;
    }
  };

  const readCauses = (): void => {
    for (const key of unread) {
      const { stream, revision } = causeOf(key);
      if (revision > (followed.get(stream) ?? -1)) followed.set(stream, revision);
    }
    unread = [];
  };

  const note = ({ revision, metadata: { at, idempotency } }: Recorded): void => {
    if (!idempotency) return;
    const { key, request } = idempotency;
    const before = get(key);
    if (!before) bytes += useBytes + key.length;
    const first = before?.first ?? revision;
    const follows = isFollowUp(key);
    if (follows && !before) unread.push(key);
    if (follows || first === 0) {
      uses.set(key, { request, first, last: revision });
    } else {
      expiring.set(key, { request, first, last: revision, at });
      expire(at);
    }
  };

  return {
    get,
    has: (key: string): boolean => get(key) !== undefined,
    /** True if a reaction to an event of the stream, at this revision or later, has changed this stream. */
    followsSince: (stream: string, revision: number): boolean => {
      readCauses();
      return (followed.get(stream) ?? -1) >= revision;
    },
    /** Notes the keys of stored events. */
    remember: (events: readonly Recorded[]): void => {
      for (const event of events) note(event);
    },
    /** About how much memory the keys take. */
    bytes: (): number => bytes,
  };
};

export type KeyUses = ReturnType<typeof keyUses>;
