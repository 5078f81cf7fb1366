/** The changed items of two lists: 1 where an item of the first is removed, and where one of the second is added. */
export type Changed = { readonly removed: Uint8Array; readonly added: Uint8Array };

/** After this number of steps the search for the shortest way ends, and takes the furthest way so far. */
const leastSteps = 256;

/** Numbers for texts: equal texts have equal numbers, from 0 on. */
const numbered = (texts: readonly string[], numbers: Map<string, number>): Int32Array => {
  const items = new Int32Array(texts.length);
  // `Int32Array.from` takes three times as long.
  for (const [i, text] of texts.entries()) {
    const number = numbers.get(text) ?? numbers.size;
    if (number === numbers.size) numbers.set(text, number);
    items[i] = number;
  }
  return items;
};

/** The places of the items that the other list has too. All other items are changed in any case, and only slow the search down. */
const placesOfShared = (items: Int32Array, isInOther: Uint8Array): Int32Array => {
  const places = new Int32Array(items.length);
  let length = 0;
  for (let i = 0; i < items.length; i++) if (isInOther[items[i] as number]) places[length++] = i;
  return places.subarray(0, length);
};

const membersOf = (items: Int32Array, kinds: number): Uint8Array => {
  const members = new Uint8Array(kinds);
  for (const item of items) members[item] = 1;
  return members;
};

/** A part of both lists: from x to right of the first, from y to below of the second. */
type Box = { readonly x: number; readonly right: number; readonly y: number; readonly below: number };

/**
 * Finds a point on a short way through a box, from both corners at once (E. Myers, An O(ND) Difference Algorithm and Its
 * Variations, 1986).
 */
const middleFinder = (a: Int32Array, b: Int32Array) => {
  const zero = b.length + 1;
  const forth = new Int32Array(a.length + b.length + 3);
  const back = new Int32Array(a.length + b.length + 3);
  const mostSteps = Math.max(leastSteps, Math.ceil(Math.sqrt(a.length + b.length)));

  /** The point that is furthest from its corner when the search is given up. */
  const furthest = ({ x, right, y, below }: Box, from: Diagonals, to: Diagonals): readonly [number, number] => {
    let [done, doneX] = [-1, x];
    for (let d = from.last; d >= from.first; d -= 2) {
      let at = Math.min(forth[zero + d] as number, right);
      if (at - d > below) at = below + d;
      if (at + at - d > done) [done, doneX] = [at + at - d, at];
    }
    let [open, openX] = [Infinity, right];
    for (let d = to.last; d >= to.first; d -= 2) {
      let at = Math.max(back[zero + d] as number, x);
      if (at - d < y) at = y + d;
      if (at + at - d < open) [open, openX] = [at + at - d, at];
    }
    return right + below - open < done - (x + y) ? [doneX, done - doneX] : [openX, open - openX];
  };

  return (box: Box): readonly [number, number] => {
    const { x, right, y, below } = box;
    const [least, most] = [x - below, right - y];
    const [start, end] = [x - y, right - below];
    const from: Diagonals = { first: start, last: start };
    const to: Diagonals = { first: end, last: end };
    const meetsForth = ((start - end) & 1) === 1;
    forth[zero + start] = x;
    back[zero + end] = right;
    for (let steps = 1; ; steps++) {
      if (from.first > least) forth[zero + --from.first - 1] = -1;
      else from.first++;
      if (from.last < most) forth[zero + ++from.last + 1] = -1;
      else from.last--;
      for (let d = from.last; d >= from.first; d -= 2) {
        const [low, high] = [forth[zero + d - 1] as number, forth[zero + d + 1] as number];
        let at = low < high ? high : low + 1;
        while (at < right && at - d < below && a[at] === b[at - d]) at++;
        forth[zero + d] = at;
        if (meetsForth && to.first <= d && d <= to.last && (back[zero + d] as number) <= at) return [at, at - d];
      }
      if (to.first > least) back[zero + --to.first - 1] = furtherThanAll;
      else to.first++;
      if (to.last < most) back[zero + ++to.last + 1] = furtherThanAll;
      else to.last--;
      for (let d = to.last; d >= to.first; d -= 2) {
        const [low, high] = [back[zero + d - 1] as number, back[zero + d + 1] as number];
        let at = low < high ? low : high - 1;
        while (at > x && at - d > y && a[at - 1] === b[at - d - 1]) at--;
        back[zero + d] = at;
        if (!meetsForth && from.first <= d && d <= from.last && at <= (forth[zero + d] as number)) return [at, at - d];
      }
      if (steps >= mostSteps) return furthest(box, from, to);
    }
  };
};

const furtherThanAll = 0x7fffffff;
type Diagonals = { first: number; last: number };

/** The changed items of two lists of numbers. */
const changedNumbers = (a: Int32Array, b: Int32Array): Changed => {
  const removed = new Uint8Array(a.length);
  const added = new Uint8Array(b.length);
  const middleOf = middleFinder(a, b);
  const boxes: Box[] = [{ x: 0, right: a.length, y: 0, below: b.length }];
  for (let box = boxes.pop(); box; box = boxes.pop()) {
    let { x, right, y, below } = box;
    while (x < right && y < below && a[x] === b[y]) [x, y] = [x + 1, y + 1];
    while (x < right && y < below && a[right - 1] === b[below - 1]) [right, below] = [right - 1, below - 1];
    if (x === right) added.fill(1, y, below);
    else if (y === below) removed.fill(1, x, right);
    else {
      const [toX, toY] = middleOf({ x, right, y, below });
      boxes.push({ x, right: toX, y, below: toY }, { x: toX, right, y: toY, below });
    }
  }
  return { removed, added };
};

/** The part of two lists without the items that both begin and end with. */
const differingPart = (first: readonly string[], second: readonly string[]) => {
  let from = 0;
  let [firstEnd, secondEnd] = [first.length, second.length];
  while (from < firstEnd && from < secondEnd && first[from] === second[from]) from++;
  while (firstEnd > from && secondEnd > from && first[firstEnd - 1] === second[secondEnd - 1]) {
    firstEnd--;
    secondEnd--;
  }
  return { from, firstEnd, secondEnd };
};

/**
 * Finds the items to remove from the first list, and to add, so that it becomes the second: as few as can be found in a time
 * that grows with the length alone.
 */
export const changedItems = (first: readonly string[], second: readonly string[]): Changed => {
  const { from, firstEnd, secondEnd } = differingPart(first, second);
  const inPart = changedInPart(first.slice(from, firstEnd), second.slice(from, secondEnd));
  const removed = new Uint8Array(first.length);
  const added = new Uint8Array(second.length);
  removed.set(inPart.removed, from);
  added.set(inPart.added, from);
  return { removed, added };
};

const changedInPart = (first: readonly string[], second: readonly string[]): Changed => {
  const numbers = new Map<string, number>();
  const [a, b] = [numbered(first, numbers), numbered(second, numbers)];
  const [sharedA, sharedB] = [
    placesOfShared(a, membersOf(b, numbers.size)),
    placesOfShared(b, membersOf(a, numbers.size)),
  ];
  const shared = changedNumbers(
    sharedA.map((place) => a[place] as number),
    sharedB.map((place) => b[place] as number),
  );
  const removed = new Uint8Array(a.length).fill(1);
  const added = new Uint8Array(b.length).fill(1);
  sharedA.forEach((place, i) => {
    removed[place] = shared.removed[i] as number;
  });
  sharedB.forEach((place, i) => {
    added[place] = shared.added[i] as number;
  });
  return { removed, added };
};

/** A run of items of both lists: equal ones, or ones that are removed and added in its place. */
export type Piece = {
  readonly equal: boolean;
  readonly first: readonly [from: number, to: number];
  readonly second: readonly [from: number, to: number];
};

/** The pieces of two lists, in order. */
export const piecesOf = ({ removed, added }: Changed): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (let x = 0, y = 0; x < removed.length || y < added.length; ) {
    const [fromX, fromY] = [x, y];
    while (x < removed.length && y < added.length && !removed[x] && !added[y]) [x, y] = [x + 1, y + 1];
    const equal = x > fromX;
    if (!equal) {
      while (removed[x]) x++;
      while (added[y]) y++;
    }
    pieces.push({ equal, first: [fromX, x], second: [fromY, y] });
  }
  return pieces;
};
