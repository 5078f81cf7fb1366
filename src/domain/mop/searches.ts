import { type Static, Type } from 'typebox';

/** The flags of a search. `case: true` ignores case. */
export const flagsSchema = Type.Object(
  {
    case: Type.Optional(Type.Boolean({ description: 'Ignore case' })),
    multiline: Type.Optional(Type.Boolean({ description: '^ and $ match at every line' })),
    global: Type.Optional(Type.Boolean({ description: 'Kept; a search finds the same with it' })),
  },
  { additionalProperties: false, title: 'SearchFlags', description: 'How a text is looked for' },
);
export type Flags = Static<typeof flagsSchema>;

/** A regular expression and its flags. */
export type Search = {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
};

/**
 * The first match in a text: the whole match, then its groups; undefined if there is none. Throws `RequestError` if the
 * search would take too long.
 */
export type Find = (search: Search, text: string) => readonly (string | undefined)[] | undefined;

const delimited = /^\/(.+)\/([gims]*)$/s;

/** True if the text is a pattern between slashes, with or without flags, such as `/up|down/i`. */
export const isPattern = (text: string): boolean => delimited.test(text);

/** Reads a pattern, with or without slashes around it. */
export const searchOf = (text: string, flags: Flags = {}): Search => {
  const [, pattern = text, letters = ''] = delimited.exec(text) ?? [];
  return {
    pattern,
    ignoreCase: flags.case === true || letters.includes('i'),
    multiline: flags.multiline === true || letters.includes('m'),
    dotAll: letters.includes('s'),
  };
};

/** The value that a match gives: its first group, or the whole match, without white space around. */
export const extracted = (found: readonly (string | undefined)[]): string => (found[1] ?? found[0] ?? '').trim();
