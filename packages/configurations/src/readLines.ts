import { isWellFormed } from '@automation-platform/json';
import { deviceTypeOf } from './deviceTypes.ts';
import type { Rules } from './lexing.ts';
import { columns, type Lines } from './lines.ts';
import { readSections } from './readSections.ts';
import { readBraces, readByRules, readPaths } from './readStatements.ts';
import { TextFault } from './textFault.ts';
import { spaced } from './words.ts';

/** The bounds of a text. */
export type Bounds = { readonly bytes: number; readonly lines: number };

const lineAt = (text: string, index: number): number => text.slice(0, Math.max(index, 0)).split('\n').length;

/** Throws `TextFault` for what is no text, or too much of it. */
const refuseUnfit = (text: string, { bytes, lines }: Bounds): void => {
  if (text.length > bytes || (text.length > bytes / 3 && new TextEncoder().encode(text).length > bytes))
    throw new TextFault(`It has more than ${bytes} bytes`);
  const nul = text.indexOf('\0');
  if (nul >= 0) throw new TextFault('It has a NUL: it is no text', lineAt(text, nul));
  if (!isWellFormed(text)) throw new TextFault('It has half of a surrogate pair: it is no text');
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  if (count > lines + 1) throw new TextFault(`It has more than ${lines} lines`, lines + 1);
};

/** A carriage return, alone or before a newline, ends a line as a newline does. */
const withNewlines = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** A built-in type in whose form texts are read and written. `rules`: they are read by these instead. */
export type TextForm = { readonly type: string; readonly rules?: Rules | undefined };

type Reading = TextForm & { readonly golden: boolean; readonly bounds: Bounds };

/** Reads a text in the form of its device type. Throws `TextFault`. */
export const readLines = (raw: string, { type, rules, golden, bounds }: Reading): Lines => {
  const text = withNewlines(raw);
  refuseUnfit(text, bounds);
  const { form, setForm = false, lineEnds = false, banners = true } = deviceTypeOf(type);
  const found = columns(golden, bounds.lines);
  if (rules) {
    readByRules(text, rules, golden, found.add);
    return found.lines();
  }
  if ((form === 'paths' || setForm) && readPaths(text, { golden, strict: setForm }, found.add))
    return { ...found.lines(), paths: true };
  if (form === 'braces') readBraces(text, { golden, lineEnds }, found.add);
  else
    readSections(text, { golden, banners }, (line) => found.add(golden ? line : { ...line, text: spaced(line.text) }));
  return found.lines();
};

/** The bounds of the configuration of a device. */
export const configurationBounds: Bounds = { bytes: 4 * 1024 * 1024, lines: 200_000 };

/** Reads the configuration of a device. Throws `TextFault` for what cannot be one: it must not count as compared. */
export const readConfiguration = (text: string, type: string, rules?: Rules): Lines => {
  if (/^\s*<(?:!doctype|html)\b/i.test(text)) throw new TextFault('It is a page of HTML');
  const lines = readLines(text, { type, rules, golden: false, bounds: configurationBounds });
  if (lines.texts.length === 0) throw new TextFault('It has no lines');
  return lines;
};
