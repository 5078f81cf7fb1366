import { undoneByNo } from '../types/words.ts';
import { cliLines } from './cliLines.ts';

/** A line of a configuration with the lines within it. */
export type Section = { readonly line: string; readonly within: readonly Section[] };

/** A line that a device does not accept. `line` counts the commands from 1. */
export type RefusedLine = { readonly line: number; readonly text: string };

const leading = new Set(['end', 'exit', 'configure', 'conf', 'write', 'quit', 'return', 'next']);

/** Words of the top level: true for those that begin a mode. */
export type TopWords = ReadonlyMap<string, boolean>;

/** Words of the top level, from texts. */
export const topWords = (words: string, modes: string): TopWords =>
  new Map([
    ...words.split(/\s+/).map((word) => [word, false] as const),
    ...modes.split(/\s+/).map((word) => [word, true] as const),
  ]);

/** Those of Cisco's devices and of devices that are alike. */
export const ciscoWords: TopWords = topWords(
  'access-list arp banner boot cdp clock default dns enable errdisable hostname ipv6 license lldp logging mac ' +
    'monitor ntp platform port-channel qos radius-server redundancy service snmp-server spanning-tree tacacs-server ' +
    'transceiver username version vtp',
  'aaa archive class-map control-plane crypto daemon event interface ip key line management policy-map radius ' +
    'route-map router tacacs track vlan vrf',
);

/** How a device reads its lines. `undo`: the words before a line that undo it. `skips`: lines without an effect. */
type Grammar = { readonly words: TopWords; readonly undo?: RegExp; readonly skips?: (line: string) => boolean };

const cisco: Grammar = { words: ciscoWords };

type Open = { readonly indent: number; readonly within: Section[] };

/**
 * Reads a text as a device does. A line belongs to the line above it that is less indented; without indentation, to the mode
 * above it if the top level does not know it. The lines of no mode that the top level does not know are `refused`.
 */
export const parse = (
  text: string,
  { words, undo = /^(?:no|undo) /, skips = (line) => line.startsWith('!') }: Grammar = cisco,
): { readonly sections: readonly Section[]; readonly refused: readonly RefusedLine[] } => {
  const sections: Section[] = [];
  const refused: RefusedLine[] = [];
  /** The sections that the next line may be in, the outermost first. */
  let open: Open[] = [];
  cliLines(text).forEach((raw, i) => {
    const line = raw.includes('\n') ? raw : raw.trim().replace(/[ \t]+/g, ' ');
    if (skips(line)) return;
    const indent = /^\s*/.exec(raw)?.[0].length ?? 0;
    const word = line.replace(undo, '').replace(/ .*$/s, '');
    if (leading.has(word) || word.startsWith('exit-')) {
      if (indent === 0) open = [];
      return;
    }
    const isKnown = words.has(word);
    if (indent > 0) open = open.filter((above) => above.indent < indent);
    else open = isKnown ? [] : open.slice(0, 1);
    const within: Section[] = [];
    if (open.length > 0) open.at(-1)?.within.push({ line, within });
    else if (isKnown) sections.push({ line, within });
    else {
      refused.push({ line: i + 1, text: line });
      return;
    }
    const isMode = open.length > 0 ? indent > 0 : words.get(word) === true && !undo.test(line);
    if (isMode) open.push({ indent, within });
  });
  return { sections, refused };
};

// A device has one line of each of these forms: a new line replaces the former one.
const single = [
  /^(hostname|sysname|switchname|description|(?:ip|ipv4) address|mtu|bandwidth|speed|duplex|encapsulation|switchport mode|switchport access vlan|snmp-server location|snmp-server contact|clock timezone|ip domain name|enable secret|router-id|name|version)(?= )/,
  /^banner \S+/,
  /^username \S+/,
  /^neighbor \S+ \S+/,
];
/** The beginning of a line of which a section has one alone; else the line. */
export const placeOf = (line: string): string =>
  single.map((form) => form.exec(line)?.[0]).find((place) => place !== undefined) ?? line;

/** The line's first word, its first two words and so on, up to `mostWords`, and the whole line. */
const prefixesOf = (line: string): readonly string[] => {
  const prefixes: string[] = [];
  for (let at = line.indexOf(' '); at > 0 && prefixes.length < mostWords; at = line.indexOf(' ', at + 1))
    prefixes.push(line.slice(0, at));
  return [...prefixes, line];
};
const mostWords = 8;

/** How lines are undone: what undoes one, and the line that is not there any more. */
export type Undo = readonly (readonly [RegExp, string])[];

/**
 * Applies changes to a configuration. A line that undoes removes all lines that are equal or begin with the same words.
 * Takes linear time.
 */
export const merge = (
  running: readonly Section[],
  changes: readonly Section[],
  undo: Undo = undoneByNo.undo,
): readonly Section[] => {
  const byPlace = new Map<string, Section>();
  const places = new Map<string, Set<string>>();
  const put = (section: Section): void => {
    const place = placeOf(section.line);
    byPlace.set(place, section);
    for (const prefix of prefixesOf(section.line)) {
      const some = places.get(prefix);
      if (some) some.add(place);
      else places.set(prefix, new Set([place]));
    }
  };
  running.forEach(put);
  for (const { line, within } of changes) {
    const [form, was] = undo.find(([one]) => one.test(line)) ?? [];
    if (form !== undefined && was !== undefined) {
      const formerLine = line.replace(form, was);
      for (const place of places.get(formerLine) ?? []) byPlace.delete(place);
      places.delete(formerLine);
    } else {
      put({ line, within: merge(byPlace.get(placeOf(line))?.within ?? [], within, undo) });
    }
  }
  return [...byPlace.values()];
};

/** Lines as a device writes them, each below the line that it belongs to. */
export const written = (sections: readonly Section[], step = ' ', indent = ''): string =>
  sections.map(({ line, within }) => `${indent}${line}\n${written(within, step, indent + step)}`).join('');

/** How a device prints a configuration. `after`: the line after a section. */
export type Print = { readonly head: string; readonly step: string; readonly after: string; readonly foot: string };

const ciscoPrint: Print = { head: '!\n', step: ' ', after: '!\n', foot: 'end\n' };

/** The configuration as a device prints it. */
export const print = (sections: readonly Section[], { head, step, after, foot }: Print = ciscoPrint): string =>
  head + sections.map((one) => written([one], step) + (one.within.length > 0 ? after : '')).join('') + foot;
