import type { Device } from '../device.ts';
import { type Print, print, type Section } from '../texts/sections.ts';
import { numberOf, serialOf } from './facts.ts';

/** The words of a type of devices: the first one of commands that show something, its make, and its refusal. */
export type ShowWords = {
  readonly verb: 'show' | 'display';
  readonly vendor: string;
  readonly version: string;
  readonly hardware: string;
  /** The first word of the line that names the device. */
  readonly naming: string;
  readonly refusal: string;
};

/** A simulated device as a command sees it. `up`: how many milliseconds it has been running. */
type Seen = {
  readonly device: Device;
  readonly sections: readonly Section[];
  readonly up: number;
  readonly words: ShowWords;
  readonly print: Print | undefined;
};

type Show = {
  readonly words: readonly string[];
  /** True if further words may follow. */
  readonly more?: true;
  readonly print: (device: Seen, rest: string) => string;
};

const settingOf = (sections: readonly Section[], start: string): string | undefined =>
  sections.find(({ line }) => line.startsWith(`${start} `))?.line.slice(start.length + 1);

type Interface = {
  readonly name: string;
  readonly description: string;
  readonly address: string | undefined;
  readonly bits: number;
  readonly mtu: string;
  readonly down: boolean;
};

const interfacesOf = (sections: readonly Section[]): readonly Interface[] =>
  sections
    .filter(({ line }) => line.startsWith('interface '))
    .map(({ line, within }) => {
      const [whole = '', mask = ''] = (
        settingOf(within, 'ip address') ??
        settingOf(within, 'ipv4 address') ??
        ''
      ).split(' ');
      const [address, length] = whole.split('/');
      return {
        name: line.slice('interface '.length),
        address: address || undefined,
        bits: length === undefined ? bitsOf(mask) : Number(length),
        description: settingOf(within, 'description') ?? '',
        mtu: settingOf(within, 'mtu') ?? '1500',
        down: within.some((one) => one.line === 'shutdown'),
      };
    });

const bitsOf = (mask: string): number =>
  mask.split('.').reduce((sum, byte) => sum + (Number(byte) >>> 0).toString(2).replace(/0/g, '').length, 0);
const networkOf = (address: string, bits: number): string =>
  address
    .split('.')
    .map((byte, i) => Number(byte) & (0xff00 >> Math.min(Math.max(bits - 8 * i, 0), 8)) & 0xff)
    .join('.');
const hexOf = (n: number): string => n.toString(16).padStart(2, '0');

const uptime = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000);
  return [
    [Math.floor(minutes / 1440), 'day'],
    [Math.floor(minutes / 60) % 24, 'hour'],
    [minutes % 60, 'minute'],
  ]
    .filter(([n], i) => n || i === 2)
    .map(([n, unit]) => `${n} ${unit}${n === 1 ? '' : 's'}`)
    .join(', ');
};

const nameOf = ({ device, sections, words }: Seen): string => settingOf(sections, words.naming) ?? device.name;

const columns = (rows: readonly (readonly string[])[], widths: readonly number[]): string =>
  rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('')
        .trimEnd(),
    )
    .join('\n');

const state = ({ down }: Interface): string => (down ? 'administratively down' : 'up');

const one = (device: Device, link: Interface, i: number): string => {
  const { name, description, address, bits, mtu, down } = link;
  const ethernet = `Ethernet, address is 0200.5e${hexOf(numberOf(device))}.00${hexOf(i)}`;
  const lines = [
    `${name} is ${state(link)}, line protocol is ${down ? 'down' : 'up'}`,
    `  Hardware is ${name.startsWith('Loopback') ? 'Loopback' : ethernet}`,
  ];
  if (description) lines.push(`  Description: ${description}`);
  if (address) lines.push(`  Internet address is ${address}/${bits}`);
  lines.push(`  MTU ${mtu} bytes, BW 1000000 Kbit/sec`);
  return lines.join('\n');
};

const interfaces: Show['print'] = ({ device, sections, words }, rest) => {
  const all = interfacesOf(sections).map((each, i) => ({ each, i }));
  const matchingInterfaces =
    rest === '' ? all : all.filter(({ each }) => each.name.toLowerCase() === rest.toLowerCase());
  return matchingInterfaces.length > 0
    ? matchingInterfaces.map(({ each, i }) => one(device, each, i)).join('\n')
    : `${words.refusal}\n`;
};

const running: Show['print'] = ({ sections, print: form, words }, rest) => {
  const found = rest === '' ? sections : sections.filter(({ line }) => line.toLowerCase() === rest.toLowerCase());
  if (found.length === 0) return `${words.refusal}\n`;
  const text = print(found, form);
  if (rest !== '' || form) return text;
  return `Building configuration...\n\nCurrent configuration : ${text.length} bytes\n${text}`;
};

const routes: Show['print'] = ({ sections }) =>
  [
    'Codes: C - connected, S - static',
    '',
    ...interfacesOf(sections).flatMap(({ address, bits, name, down }) => {
      if (!address || down) return [];
      return [`C        ${networkOf(address, bits)}/${bits} is directly connected, ${name}`];
    }),
    ...sections
      .filter(({ line }) => /^ip route \S+ \S+ \S+/.test(line))
      .map(({ line }) => {
        const [, , network = '', mask = '', via = ''] = line.split(' ');
        return `S${network === '0.0.0.0' ? '*' : ' '}       ${network}/${bitsOf(mask)} [1/0] via ${via}`;
      }),
  ].join('\n');

const version: Show['print'] = (device) => {
  const { vendor, hardware, version: own } = device.words;
  return [
    `${vendor}, Version ${settingOf(device.sections, 'version') ?? own}`,
    `${nameOf(device)} uptime is ${uptime(device.up)}`,
    `${hardware} (simulated) with ${interfacesOf(device.sections).length} interfaces`,
    `Processor board ID ${serialOf(device.device)}`,
  ].join('\n');
};

const shows: readonly Show[] = [
  { words: ['show', 'version'], print: version },
  { words: ['show', 'running-config'], more: true, print: running },
  { words: ['show', 'startup-config'], print: ({ sections, print: form }) => print(sections, form) },
  { words: ['display', 'version'], print: version },
  { words: ['display', 'current-configuration'], more: true, print: running },
  { words: ['display', 'saved-configuration'], print: ({ sections, print: form }) => print(sections, form) },
  {
    words: ['show', 'interfaces', 'description'],
    print: ({ sections }) =>
      columns(
        [
          ['Interface', 'Status', 'Protocol', 'Description'],
          ...interfacesOf(sections).map((each) => [
            each.name,
            each.down ? 'admin down' : 'up',
            each.down ? 'down' : 'up',
            each.description,
          ]),
        ],
        [31, 15, 9],
      ),
  },
  { words: ['show', 'interfaces'], more: true, print: interfaces },
  {
    words: ['show', 'ip', 'interface', 'brief'],
    print: ({ sections }) =>
      columns(
        [
          ['Interface', 'IP-Address', 'OK?', 'Status', 'Protocol'],
          ...interfacesOf(sections).map((each) => [
            each.name,
            each.address ?? 'unassigned',
            'YES',
            state(each),
            each.down ? 'down' : 'up',
          ]),
        ],
        [23, 16, 4, 22],
      ),
  },
  { words: ['show', 'ip', 'route'], print: routes },
  {
    words: ['show', 'inventory'],
    print: ({ device, words: { hardware } }) =>
      `NAME: "Chassis", DESCR: "${hardware} (simulated)"\nPID: ${hardware}, VID: V01, SN: ${serialOf(device)}`,
  },
  {
    words: ['show', 'vlan', 'brief'],
    print: ({ sections }) =>
      columns(
        [
          ['VLAN', 'Name', 'Status'],
          ['1', 'default', 'active'],
          ...sections
            .filter(({ line }) => line.startsWith('vlan '))
            .map(({ line, within }) => [
              line.slice(5),
              settingOf(within, 'name') ?? `VLAN${line.slice(5).padStart(4, '0')}`,
              'active',
            ]),
        ],
        [5, 33],
      ),
  },
  { words: ['terminal', 'length'], more: true, print: () => '' },
];

/** Runs a command and returns its output. Words may be shortened as on a real device. `| include` and the like filter lines. */
export const answerTo = (command: string, device: Seen): string => {
  const { verb, refusal } = device.words;
  const [said = '', ...filters] = command.trim().split(/\s+\|\s+/);
  const typed = said.split(/\s+/);
  const fits = ({ words }: Show) =>
    (words[0] === verb || words[0] === 'terminal') &&
    words.every((word, i) => word.startsWith((typed[i] ?? '').toLowerCase()));
  const found = shows.find(
    (show) => fits(show) && (typed.length === show.words.length || (typed.length > show.words.length && show.more)),
  );
  if (!found)
    return shows.some((show) => fits(show) && typed.length < show.words.length)
      ? '% Incomplete command.\n'
      : `${refusal}\n`;
  return filters.reduce(filtered, found.print(device, typed.slice(found.words.length).join(' ')));
};

/** The lines of an output that a filter lets through: `include` (`match`), `exclude` (`except`), `begin`, `section`. */
export const filtered = (text: string, filter: string): string => {
  const [, how = '', what = ''] = /^(\S+)\s+(.*)$/.exec(filter.trim()) ?? [];
  const is = (...names: readonly string[]): boolean => how !== '' && names.some((name) => name.startsWith(how));
  const lines = text.split('\n');
  if (is('include', 'match')) return lines.filter((line) => line.includes(what)).join('\n');
  if (is('exclude', 'except')) return lines.filter((line) => !line.includes(what)).join('\n');
  if (is('begin')) return lines.slice(lines.findIndex((line) => line.includes(what)) >>> 0).join('\n');
  if (!is('section')) return `% Invalid filter: ${filter.trim()}\n`;
  let inside = false;
  const matchingLines = lines.filter((line) => {
    if (!/^\s/.test(line)) inside = line.includes(what);
    return inside;
  });
  return matchingLines.join('\n');
};
