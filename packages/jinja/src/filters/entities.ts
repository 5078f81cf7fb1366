const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\xa0'],
  ['copy', '©'],
  ['reg', '®'],
  ['deg', '°'],
  ['micro', 'µ'],
  ['laquo', '«'],
  ['raquo', '»'],
  ['middot', '·'],
  ['times', '×'],
  ['divide', '÷'],
  ['sect', '§'],
  ['para', '¶'],
  ['plusmn', '±'],
  ['euro', '€'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['bull', '•'],
  ['larr', '←'],
  ['rarr', '→'],
  ['auml', 'ä'],
  ['ouml', 'ö'],
  ['uuml', 'ü'],
  ['Auml', 'Ä'],
  ['Ouml', 'Ö'],
  ['Uuml', 'Ü'],
  ['szlig', 'ß'],
  ['eacute', 'é'],
  ['egrave', 'è'],
  ['agrave', 'à'],
  ['ccedil', 'ç'],
]);

/** Replaces HTML entities by their characters: entities with a number, and those with a name above. All other entities stay. */
export const unescapeHtml = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,8})|#[xX]([\da-fA-F]{1,8})|(\w{1,32}));/g,
    (whole, decimal?: string, hex = '', name?: string) => {
      if (name !== undefined) return named.get(name) ?? whole;
      const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
      return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code);
    },
  );
