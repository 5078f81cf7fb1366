/** How many letters must be changed, put in or left out to make one name of another. */
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

/** A sentence that names the nearest of the names, if one is near. */
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
