const simple: ReadonlyMap<string, string> = new Map([
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

const digitsAfter: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** The text of a string literal, which is given without its quotes. Unknown escapes stay as they are. */
export const unescaped = (text: string, fail: (message: string) => never): string =>
  text.replace(/\\([0-7]{1,3}|[xuU][\da-fA-F]*|.)/gsu, (whole, rest: string) => {
    if (/^[0-7]/.test(rest)) return String.fromCodePoint(parseInt(rest, 8));
    const kind = rest.charAt(0);
    const count = digitsAfter.get(kind);
    if (count !== undefined) {
      const digits = rest.slice(1, 1 + count);
      const code = parseInt(digits, 16);
      if (digits.length < count || code > 0x10ffff) fail(`truncated \\${kind}${'X'.repeat(count)} escape`);
      return String.fromCodePoint(code) + rest.slice(1 + count);
    }
    if (kind === 'N') fail('characters by name (\\N{...}) are not supported');
    return simple.get(rest) ?? whole;
  });
