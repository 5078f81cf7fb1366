const token = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[[\]{},:]/g;

// A terminal would obey these control characters. JSON has all others escaped.
const control = /[\u007f-\u009f]/g;

const escaped = (letter: string): string => `\\u00${letter.charCodeAt(0).toString(16)}`;

/** JSON text with a line for each member, for a terminal. Numbers stay as they are written. */
export const indented = (text: string): string => {
  let level = 0;
  const line = (): string => `\n${'  '.repeat(level)}`;
  const placed = text.replace(token, (part) => {
    if (part === ':') return ': ';
    if (part === ',') return `,${line()}`;
    if (part === '{' || part === '[') {
      level++;
      return part + line();
    }
    if (part !== '}' && part !== ']') return part;
    level--;
    return line() + part;
  });
  return placed.replace(control, escaped);
};
