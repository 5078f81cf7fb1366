/** How many letters must be changed, added or removed to turn one name into the other. */
const distance = (a: string, b: string): number => {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row.push(Math.min((before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (before[j - 1] ?? 0) + same));
    }
    before = row;
  }
  return before[b.length] ?? 0;
};

const longest = 60;

/** A sentence with the most similar of the names; empty if none is similar. */
export const nearest = (name: string, names: Iterable<string>): string => {
  if (name.length > longest) return '';
  let best: string | undefined;
  let least = Math.ceil(name.length / 2);
  for (const known of names) {
    const changes = distance(name, known);
    if (changes < least) [best, least] = [known, changes];
  }
  return best === undefined ? '' : ` The nearest is '${best}'.`;
};
