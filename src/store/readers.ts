import type { WholeLog } from './port.ts';

/** Carries out reactions. */
export const reactionsReader = 'reactions';
/** Starts the jobs of event triggers. */
export const triggersReader = 'triggers';
/** Starts the jobs of schedules that have fired. */
export const schedulesReader = 'schedules';

// Each may have checkpoints of partitions besides: `<reader>:<partition>`.
const readers = [reactionsReader, triggersReader, schedulesReader];

/** The places of all readers and their cursors, by the names of their checkpoints. A move of the log moves them too. */
export const placesOfReaders = async (log: WholeLog): Promise<ReadonlyMap<string, number>> => {
  const places = new Map<string, number>();
  for (const reader of readers) {
    const place = await log.checkpoint(reader);
    if (place !== undefined) places.set(reader, place);
    for (const [name, position] of await log.checkpointsOf(reader)) places.set(name, position);
  }
  return places;
};

/** Gives all readers of a log these places, and removes the checkpoints of readers and cursors that have none. */
export const setPlacesOfReaders = async (log: WholeLog, places: ReadonlyMap<string, number>): Promise<void> => {
  for (const name of (await placesOfReaders(log)).keys()) if (!places.has(name)) await log.removeCheckpoint(name);
  for (const [name, position] of places) await log.setCheckpoint(name, position);
};

/**
 * The places of readers in a log that brings back a past: nothing of it fires. Reactions go on where they were, because
 * they finish what a command had begun. A log without a place for schedules is of a version that did not run them: the
 * next start begins those that nobody has begun.
 */
export const placesInPast = (places: ReadonlyMap<string, number>, head: number): ReadonlyMap<string, number> => {
  const reactions = places.get(reactionsReader);
  const moved = new Map([triggersReader, ...places.keys()].map((name) => [name, head]));
  if (reactions !== undefined) moved.set(reactionsReader, reactions);
  return moved;
};

/** Moves the places of readers to another log, whose events come in the same order at other positions. */
export const movedPlaces = (places: ReadonlyMap<string, number>) => {
  const placesInOrder = [...places].sort(([, one], [, other]) => one - other);
  const moved = new Map<string, number>();
  let before = 0;
  /** Settles the places that lie before a position of the source. */
  const settle = (position: number): void => {
    for (let [first] = placesInOrder; first && first[1] < position; [first] = placesInOrder) {
      moved.set(first[0], before);
      placesInOrder.shift();
    }
  };
  return {
    /** Called with the positions of each event in both logs, in order. */
    passed: (position: number, there: number): void => {
      settle(position);
      before = there;
    },
    moved: (): ReadonlyMap<string, number> => {
      settle(Infinity);
      return moved;
    },
  };
};

/** A checkpoint in EventStoreDB while an import into it is under way. */
export const importingCheckpoint = 'importing';

/**
 * Names the newest event as a node started whose clock it did not believe. Later events show that clock's time, so another
 * start compares with this one.
 */
export const doubtedCheckpoint = 'clock';
