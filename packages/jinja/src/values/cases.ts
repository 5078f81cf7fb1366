const cased = /[\p{Lu}\p{Ll}\p{Lt}\p{Lowercase}\p{Uppercase}]/u;
const titleOf = (character: string): string => {
  const upper = character.toUpperCase();
  // At the start of a word ß becomes Ss, not SS.
  return upper.length > character.length ? upper.charAt(0) + upper.slice(1).toLowerCase() : upper;
};

/** str.title(): every sequence of letters begins with a capital. */
export const titled = (text: string): string => {
  let within = false;
  let result = '';
  for (const character of text) {
    result += within ? character.toLowerCase() : titleOf(character);
    within = cased.test(character);
  }
  return result;
};

/** str.capitalize() */
export const capitalized = (text: string): string => {
  const [first = ''] = text;
  return titleOf(first) + text.slice(first.length).toLowerCase();
};

/** str.swapcase() */
export const swapped = (text: string): string =>
  Array.from(text, (character) =>
    character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase(),
  ).join('');

/** str.casefold(), without the special letters of rare alphabets. */
export const casefolded = (text: string): string => text.toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');

/** str.islower() and str.isupper(): the text has at least one cased character, and none of the other case. */
export const isCase = (text: string, which: 'lower' | 'upper'): boolean => {
  const other = which === 'lower' ? /[\p{Lu}\p{Lt}]/u : /[\p{Ll}\p{Lt}]/u;
  return cased.test(text) && !other.test(text);
};

/** str.istitle() */
export const isTitle = (text: string): boolean => {
  let within = false;
  let any = false;
  for (const character of text) {
    const upper = /[\p{Lu}\p{Lt}]/u.test(character);
    const lower = /\p{Ll}/u.test(character);
    if ((upper && within) || (lower && !within)) return false;
    any ||= upper || lower;
    within = upper || lower;
  }
  return any;
};
