/** How many letters must be changed, put in, left out or swapped with their neighbour to make one name of another. */
const distance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(swapped ? Math.min(least, (beforeLast[j - 2] ?? 0) + 1) : least);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
};

const longest = 60;

/** The one of the names that is nearest to a name, if one is near. */
export const nearestName = (name: string, names: Iterable<string>): string | undefined => {
  if (name.length > longest) return undefined;
  let best: string | undefined;
  let least = Math.ceil(name.length / 2);
  for (const candidate of names) {
    const changes = distance(name, candidate);
    if (changes < least) [best, least] = [candidate, changes];
  }
  return best;
};
