import { cliLines } from './cliLines.ts';

/** A line of a configuration with the lines within it. */
export type Section = { readonly line: string; readonly within: readonly Section[] };

/** A line that a device does not accept. `line` counts the commands from 1. */
export type RefusedLine = { readonly line: number; readonly text: string };

const topLevel = new Set([
  'aaa',
  'access-list',
  'archive',
  'arp',
  'banner',
  'boot',
  'cdp',
  'class-map',
  'clock',
  'control-plane',
  'crypto',
  'daemon',
  'default',
  'dns',
  'enable',
  'errdisable',
  'event',
  'hostname',
  'interface',
  'ip',
  'ipv6',
  'key',
  'license',
  'line',
  'lldp',
  'logging',
  'mac',
  'management',
  'monitor',
  'ntp',
  'platform',
  'policy-map',
  'port-channel',
  'qos',
  'radius',
  'radius-server',
  'redundancy',
  'route-map',
  'router',
  'service',
  'snmp-server',
  'spanning-tree',
  'tacacs',
  'tacacs-server',
  'track',
  'transceiver',
  'username',
  'version',
  'vlan',
  'vrf',
  'vtp',
]);
const modes = new Set([
  'aaa',
  'archive',
  'class-map',
  'control-plane',
  'crypto',
  'daemon',
  'event',
  'interface',
  'ip',
  'key',
  'line',
  'management',
  'policy-map',
  'radius',
  'route-map',
  'router',
  'tacacs',
  'track',
  'vlan',
  'vrf',
]);
const skipped = new Set(['end', 'exit', 'configure', 'conf', 'write']);

const first = (line: string): string => line.replace(/^no /, '').replace(/ .*$/s, '');

/**
 * Reads a text as a device does. A line belongs to the mode above it if it is indented, or if the top level does not
 * know it.
 */
export const parse = (
  text: string,
): { readonly sections: readonly Section[]; readonly refused: readonly RefusedLine[] } => {
  const sections: { line: string; within: Section[] }[] = [];
  const refused: RefusedLine[] = [];
  let inMode = false;
  cliLines(text).forEach((raw, i) => {
    const line = raw.includes('\n') ? raw : raw.trim().replace(/\s+/g, ' ');
    if (line.startsWith('!')) return;
    if (skipped.has(first(line))) {
      inMode &&= /^\s/.test(raw);
      return;
    }
    const known = topLevel.has(first(line));
    const mode = inMode ? sections.at(-1) : undefined;
    if (mode && (/^\s/.test(raw) || !known)) {
      mode.within.push({ line, within: [] });
    } else if (known) {
      sections.push({ line, within: [] });
      inMode = modes.has(first(line)) && !line.startsWith('no ');
    } else {
      refused.push({ line: i + 1, text: line });
    }
  });
  return { sections, refused };
};

// A device has one line of each of these forms: a new line replaces the former one.
const single = [
  /^(hostname|description|ip address|mtu|bandwidth|speed|duplex|encapsulation|switchport mode|switchport access vlan|snmp-server location|snmp-server contact|clock timezone|ip domain name|enable secret|router-id|name|version)(?= )/,
  /^banner \S+/,
  /^username \S+/,
  /^neighbor \S+ \S+/,
];
const placeOf = (line: string): string =>
  single.map((form) => form.exec(line)?.[0]).find((place) => place !== undefined) ?? line;

/** The line's first word, its first two words and so on, up to `mostWords`, and the whole line. */
const prefixesOf = (line: string): readonly string[] => {
  const prefixes: string[] = [];
  for (let at = line.indexOf(' '); at > 0 && prefixes.length < mostWords; at = line.indexOf(' ', at + 1))
    prefixes.push(line.slice(0, at));
  return [...prefixes, line];
};
const mostWords = 8;

/**
 * Applies changes to a configuration. `no` removes the lines that are equal or begin with the same words. Takes linear
 * time.
 */
export const merge = (running: readonly Section[], changes: readonly Section[]): readonly Section[] => {
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
    if (line.startsWith('no ')) {
      const gone = line.slice(3);
      for (const place of places.get(gone) ?? []) byPlace.delete(place);
      places.delete(gone);
    } else {
      put({ line, within: merge(byPlace.get(placeOf(line))?.within ?? [], within) });
    }
  }
  return [...byPlace.values()];
};

/** The configuration as a device prints it. */
export const print = (sections: readonly Section[]): string =>
  [
    '!',
    ...sections.flatMap(({ line, within }) =>
      within.length > 0 ? [line, ...within.map((one) => ` ${one.line}`), '!'] : [line],
    ),
    'end',
    '',
  ].join('\n');
