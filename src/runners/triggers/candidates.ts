import { pinnedIn } from '@automation-platform/bounded-schemas';
import { canonical, isObject, type Members, own } from '@automation-platform/json';

/** The events that a trigger waits for. */
type Waiting = { readonly source: string; readonly topic: string; readonly schema: unknown };

/** Finds the triggers that an event may fire, without trying all. */
export type Candidates = {
  /** Adds a trigger, or replaces what it waited for. */
  readonly set: (id: string, waiting: Waiting) => void;
  readonly remove: (id: string) => void;
  /** Every trigger of this source and topic whose filter the payload fits, and perhaps some that it does not fit, in no order. */
  readonly find: (source: string, topic: string, payload: unknown) => string[];
};

/** A member that every fitting object has, with the keys of the values that it may have there. */
type Pin = { readonly member: string; readonly keys: readonly unknown[] };

type Entry = {
  readonly id: string;
  readonly source: string;
  readonly topic: string;
  readonly pins: readonly Pin[];
  readonly onlyObjects: boolean;
  /** One of the pins: the entry is found under its keys. */
  readonly filed: Pin | undefined;
};

/** The triggers of one source and topic. */
type Topic = {
  readonly all: Set<Entry>;
  /** Those without a pin. */
  readonly open: Set<Entry>;
  /** The other triggers, by member, then by key. */
  readonly pinned: Map<string, Map<unknown, Set<Entry>>>;
};

// A trigger is filed under each constant. More of them are not worth the memory.
const mostConstants = 16;
const longestText = 4096;
const longText = Symbol('an object or array with a long text');

/**
 * The same for equal JSON values; undefined for no value. Some values that differ share a key: then a trigger is tried
 * in vain. The length of a text does not depend on the order of members.
 */
const keyOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  return JSON.stringify(value).length > longestText ? longText : canonical(value);
};

/**
 * Triggers by source and topic, then by constants: members that a filter requires and pins by `const` or `enum`. Lists
 * are Maps, because a member may be called `toString` or `__proto__`.
 */
export const candidates = (): Candidates => {
  const entries = new Map<string, Entry>();
  const sources = new Map<string, Map<string, Topic>>();

  const remove = (id: string): void => {
    const entry = entries.get(id);
    if (!entry) return;
    const topics = sources.get(entry.source);
    const topic = topics?.get(entry.topic);
    if (!topics || !topic) return;
    entries.delete(id);
    takeOut(entry, topic);
    if (topic.all.size === 0) topics.delete(entry.topic);
    if (topics.size === 0) sources.delete(entry.source);
  };

  const set = (id: string, { source, topic: name, schema }: Waiting): void => {
    remove(id);
    const topics = added(sources, source, () => new Map<string, Topic>());
    const topic = added(topics, name, (): Topic => ({ all: new Set(), open: new Set(), pinned: new Map() }));
    const { members, onlyObjects } = pinnedIn(schema);
    const pins = [...members]
      .filter(([, constants]) => constants.length <= mostConstants)
      .map(([member, constants]): Pin => ({ member, keys: [...new Set(constants.map(keyOf))] }));
    const entry = { id, source, topic: name, pins, onlyObjects, filed: rarest(pins, topic) };
    entries.set(id, entry);
    putIn(entry, topic);
  };

  const find = (source: string, name: string, payload: unknown): string[] => {
    const topic = sources.get(source)?.get(name);
    if (!topic) return [];
    const found = isObject(payload)
      ? [...topic.open, ...filedFor(payload, topic)]
      : [...topic.all].filter(({ onlyObjects }) => !onlyObjects); // only objects must have members
    return found.map(({ id }) => id);
  };

  return { set, remove, find };
};

const added = <K, V>(to: Map<K, V>, key: K, make: () => V): V => {
  const existing = to.get(key) ?? make();
  to.set(key, existing);
  return existing;
};

/** The pin whose values the fewest other triggers wait for. */
const rarest = (pins: readonly Pin[], { pinned }: Topic): Pin | undefined => {
  let best: Pin | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const pin of pins) {
    const others = Math.max(0, ...pin.keys.map((key) => pinned.get(pin.member)?.get(key)?.size ?? 0));
    if (others < least) [best, least] = [pin, others];
  }
  return best;
};

const putIn = (entry: Entry, { all, open, pinned }: Topic): void => {
  all.add(entry);
  if (!entry.filed) {
    open.add(entry);
    return;
  }
  const values = added(pinned, entry.filed.member, () => new Map<unknown, Set<Entry>>());
  for (const key of entry.filed.keys) added(values, key, () => new Set<Entry>()).add(entry);
};

const takeOut = (entry: Entry, { all, open, pinned }: Topic): void => {
  all.delete(entry);
  open.delete(entry);
  if (!entry.filed) return;
  const { member, keys } = entry.filed;
  const values = pinned.get(member);
  for (const key of keys) {
    const there = values?.get(key);
    there?.delete(entry);
    if (there?.size === 0) values?.delete(key);
  }
  if (values?.size === 0) pinned.delete(member);
};

/** The triggers all of whose pins hold for the payload. */
const filedFor = (payload: Members, { pinned }: Topic): readonly Entry[] => {
  const keys = new Map<string, unknown>();
  const keyAt = (member: string): unknown => added(keys, member, () => keyOf(own(payload, member)));
  const holds = ({ member, keys }: Pin): boolean => keys.includes(keyAt(member));
  return [...pinned].flatMap(([member, values]) =>
    [...(values.get(keyAt(member)) ?? [])].filter(({ pins }) => pins.every(holds)),
  );
};
