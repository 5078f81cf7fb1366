import { retirement } from '../../domain/engine/retirement.ts';
import type { EventStore } from '../../store/port.ts';
import { streamUpTo } from '../../store/upTo.ts';
import { endedAt, type Projection } from '../engine/define.ts';
import type { Change, Entry } from '../engine/port.ts';
import { retiredBefore } from '../engine/retiring.ts';
import { projectionsOf, type Unit } from './units.ts';

/** The time before which everything of this kind that had ended was retired up to a position; undefined: nothing was. */
const lastRetirement = async (log: EventStore, main: Projection, until: number): Promise<number | undefined> => {
  let last: number | undefined;
  for await (const events of streamUpTo(log, `${retirement.category}-${main.of.category}`, until))
    for (const event of events) last = Math.max(last ?? 0, retiredBefore(event, main) ?? 0) || undefined;
  return last;
};

/** Makes the function that leaves out of a unit's documents what was retired up to a position. */
export const leavingRetired = async (
  log: EventStore,
  unit: Unit,
  until: number,
): Promise<(changes: readonly Change[]) => readonly Change[]> => {
  const main = projectionsOf(unit).find(({ retires }) => retires);
  const before = main && (await lastRetirement(log, main, until));
  if (!main || before === undefined) return (changes) => changes;
  const isRetired = (entry: Entry | undefined): boolean =>
    entry !== undefined && (endedAt(main, JSON.parse(entry.text)) ?? Infinity) < before;
  return (changes) => {
    const gone = new Set<string>();
    for (const { collection, id, entry } of changes)
      if (collection === main.collection && isRetired(entry)) gone.add(id);
    return gone.size === 0 ? changes : changes.filter(({ id }) => !gone.has(id));
  };
};
