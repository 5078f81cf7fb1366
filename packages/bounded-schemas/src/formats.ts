import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

// Longer texts fit no format except base64. Several expressions of ajv-formats backtrack, but none of them for long
// within this length.
const longest = 2048;

const bounded = (format: Format): Format => {
  if (typeof format === 'function') return (text: string) => text.length <= longest && format(text) === true;
  if (format instanceof RegExp) return (text: string) => text.length <= longest && format.test(text);
  if (typeof format === 'object' && 'validate' in format && format.type !== 'number')
    return bounded(format.validate as Format);
  return format;
};

const isRegex = (text: string): boolean => {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

const withOffset = (format: Format): Format => {
  const boundedFormat = bounded(format);
  return (text: string) =>
    /(?:z|[+-]\d\d:\d\d)$/i.test(text) && typeof boundedFormat === 'function' && boundedFormat(text) === true;
};

/** The formats that are checked (README.md). None of them takes long for any text. */
export const formats: Readonly<Record<string, Format>> = {
  ...Object.fromEntries(Object.entries(fullFormats).map(([name, format]) => [name, bounded(format as Format)])),
  byte: (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  url: bounded((text: string) => /^(?:https?|ftp):\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text)),
  // ajv's versions accept texts that the standards do not: an offset without minutes, a URN, escapes that ECMA 262 does
  // not know.
  'date-time': withOffset(fullFormats['date-time']),
  time: withOffset(fullFormats.time),
  uuid: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i,
  regex: bounded(isRegex),
};
