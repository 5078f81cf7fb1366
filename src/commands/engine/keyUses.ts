import type { Recorded } from '../../store/event.ts';
import { causeOf, isFollowUp } from './followUps.ts';

/** The use of an Idempotency-Key in a stream: the keyed digest of the request, and the revisions of its events. */
export type KeyUse = { readonly request: string; readonly first: number; readonly last: number };

type Expiring = KeyUse & { readonly at: string };

const keptHours = 24;
// About what a key takes in memory besides its text, and what such a text takes besides its letters (measured).
const useBytes = 150;

/**
 * The idempotency keys of a stream. Keys of creates and of reactions are kept for good, the rest for at least 24 h. A
 * stream may have very many keys that are kept for good, so nothing ever walks over these. Most streams have no key, and
 * very many streams are cached: a class, with maps that are made when they are needed, takes a tenth of the memory.
 */
export class KeyUses {
  #forGood: Map<string, KeyUse> | undefined;
  /** In the order of their first events, and so in the order in which they expire. */
  #expiring: Map<string, Expiring> | undefined;
  /**
   * For each stream: the highest revision of an event whose reactions have changed this stream. Few streams are asked for
   * it, so keys wait in `#unread` until then.
   */
  #followed: Map<string, number> | undefined;
  #unread: string[] | undefined;
  #bytes = 0;

  get(key: string): KeyUse | undefined {
    return this.#forGood?.get(key) ?? this.#expiring?.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** True if a reaction to an event of the stream, at this revision or later, has changed this stream. */
  followsSince(stream: string, revision: number): boolean {
    this.#readCauses();
    return (this.#followed?.get(stream) ?? -1) >= revision;
  }

  /** Notes the keys of stored events. */
  remember(events: readonly Recorded[]): void {
    for (const event of events) this.#note(event);
  }

  /** About how much memory the keys take. */
  bytes(): number {
    return this.#bytes;
  }

  #note({ revision, metadata: { at, idempotency } }: Recorded): void {
    if (!idempotency) return;
    const { key, request } = idempotency;
    const before = this.get(key);
    if (!before) this.#bytes += useBytes + key.length;
    const first = before?.first ?? revision;
    const follows = isFollowUp(key);
    if (follows && !before) {
      this.#unread ??= [];
      this.#unread.push(key);
    }
    if (follows || first === 0) {
      this.#forGood ??= new Map();
      this.#forGood.set(key, { request, first, last: revision });
    } else {
      this.#expiring ??= new Map();
      this.#expiring.set(key, { request, first, last: revision, at });
      this.#expire(this.#expiring, at);
    }
  }

  /** Forgets the keys that have expired. */
  #expire(expiring: Map<string, Expiring>, now: string): void {
    const oldest = new Date(Date.parse(now) - keptHours * 3_600_000).toISOString();
    for (const [key, { at }] of expiring) {
      if (at >= oldest) break;
      expiring.delete(key);
      this.#bytes -= useBytes + key.length;
    }
  }

  #readCauses(): void {
    if (!this.#unread) return;
    this.#followed ??= new Map();
    for (const key of this.#unread) {
      const { stream, revision } = causeOf(key);
      if (revision > (this.#followed.get(stream) ?? -1)) this.#followed.set(stream, revision);
    }
    this.#unread = undefined;
  }
}
