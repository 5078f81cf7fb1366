/** How a text may be written in YAML, as libyaml finds out. */
export type Analysis = {
  readonly multiline: boolean;
  readonly plainInFlow: boolean;
  readonly plainInBlock: boolean;
  readonly singleQuoted: boolean;
};

/** Plain texts that YAML 1.1 reads as something else. */
const readOtherwise = [
  /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*)$/,
  /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  /^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][\d_]*|0x[\da-fA-F_]+|[1-9][\d_]*(?::[0-5]?\d)+)$/,
  /^(?:<<|=|~|null|Null|NULL|)$/,
  /^\d{4}-\d{2}-\d{2}$/,
  /^\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d{2}:\d{2}(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d{2})?))?$/,
];

export const isText = (text: string): boolean => text.length > 100 || !readOtherwise.some((form) => form.test(text));

const unprintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const isBreak = (character: string): boolean => /^[\n\r\x85\u2028\u2029]$/.test(character);
const isBlankOrEnd = (character: string | undefined): boolean =>
  character === undefined || character === '\t' || character === ' ' || character === '\0' || isBreak(character);

/** True if a text has what means something in a block, and in brackets. */
const indicators = (text: string): { readonly block: boolean; readonly flow: boolean } => {
  const [first = '', second] = text;
  const atFirst = /^[#,[\]{}&*!|>'"%@`]/.test(text) || /^(?:---|\.\.\.)/.test(text);
  const dashed = first === '-' && isBlankOrEnd(second);
  const isExplicitKey = /^[?:]/.test(first);
  const colon = /:(?=[\t \n\r\x85\u2028\u2029\0]|$)/.test(text.slice(1));
  const comment = /[\t \n\r\x85\u2028\u2029\0]#/.test(text);
  return {
    block: atFirst || dashed || (isExplicitKey && isBlankOrEnd(second)) || colon || comment,
    flow: atFirst || dashed || isExplicitKey || comment || /[,?[\]{}:]/.test(text.slice(1)),
  };
};

export const analyze = (text: string): Analysis => {
  if (text === '') return { multiline: false, plainInFlow: false, plainInBlock: true, singleQuoted: true };
  const multiline = /[\n\r\x85\u2028\u2029]/.test(text);
  const special = unprintable.test(text) || / [\n\r\x85\u2028\u2029]/.test(text);
  const breakThenSpace = /[\n\r\x85\u2028\u2029] /.test(text);
  const bare = !multiline && !special && !text.startsWith(' ') && !text.endsWith(' ');
  const { block, flow } = indicators(text);
  return {
    multiline,
    plainInFlow: bare && !flow,
    plainInBlock: bare && !block,
    singleQuoted: !special && !breakThenSpace,
  };
};

const letters: ReadonlyMap<string, string> = new Map([
  ['\0', '0'],
  ['\x07', 'a'],
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\v', 'v'],
  ['\f', 'f'],
  ['\r', 'r'],
  ['\x1b', 'e'],
  ['"', '"'],
  ['\\', '\\'],
  ['\x85', 'N'],
  ['\u2028', 'L'],
  ['\u2029', 'P'],
]);

/** A character within double quotes. */
export const escaped = (character: string): string => {
  const letter = letters.get(character);
  if (letter !== undefined) return `\\${letter}`;
  if (!unprintable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
};

export { isBreak };
