const beyondAscii = /[\0\u0080-\uffff]/;

/**
 * A string whose UTF-16 units are the UTF-8 bytes of the text, so that `<` compares bytes. In UTF-16 order U+E000 would
 * come after U+10000. NUL becomes NUL FF, so that a single NUL can end a part of a key.
 */
const bytes = (text: string): string =>
  beyondAscii.test(text) ? Buffer.from(text).toString('latin1').replaceAll('\0', '\0\xff') : text;

/** The beginning that the sort keys of all entries with exactly this value have, and no other keys. */
export const valueKey = (value: string): string => `${bytes(value.toLowerCase())}\0${bytes(value)}\0`;

/** A key that `<` orders by lower-cased value, then value, then id, each by UTF-8 bytes. */
export const sortKey = (value: string, id: string): string => valueKey(value) + bytes(id);
