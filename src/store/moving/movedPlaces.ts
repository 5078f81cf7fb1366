/** Moves the places of readers to another log, whose events come in the same order at other positions. */
export const movedPlaces = (places: ReadonlyMap<string, number>) => {
  const left = [...places].sort(([, one], [, other]) => one - other);
  const moved = new Map<string, number>();
  let before = 0;
  /** Settles the places that lie before a position of the source. */
  const settle = (position: number): void => {
    for (let [first] = left; first && first[1] < position; [first] = left) {
      moved.set(first[0], before);
      left.shift();
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
