import { modelOf, numberOf, serialOf } from './labDevice.ts';
import type { Device } from './port.ts';
import { print, type Section } from './sections.ts';

/** A simulated device as a command sees it. `up`: how many milliseconds it has been running. */
export type Seen = { readonly device: Device; readonly sections: readonly Section[]; readonly up: number };

type Show = {
  readonly words: readonly string[];
  /** True if further words may follow. */
  readonly more?: true;
  readonly print: (seen: Seen, rest: string) => string;
};

const settingOf = (sections: readonly Section[], start: string): string | undefined =>
  sections.find(({ line }) => line.startsWith(`${start} `))?.line.slice(start.length + 1);

type Interface = {
  readonly name: string;
  readonly description: string;
  readonly address: string | undefined;
  readonly mask: string;
  readonly mtu: string;
  readonly down: boolean;
};

const interfacesOf = (sections: readonly Section[]): readonly Interface[] =>
  sections
    .filter(({ line }) => line.startsWith('interface '))
    .map(({ line, within }) => {
      const [address, mask = ''] = (settingOf(within, 'ip address') ?? '').split(' ');
      return {
        name: line.slice('interface '.length),
        address: address || undefined,
        mask,
        description: settingOf(within, 'description') ?? '',
        mtu: settingOf(within, 'mtu') ?? '1500',
        down: within.some((one) => one.line === 'shutdown'),
      };
    });

const bitsOf = (mask: string): number =>
  mask.split('.').reduce((sum, byte) => sum + (Number(byte) >>> 0).toString(2).replace(/0/g, '').length, 0);
const networkOf = (address: string, mask: string): string => {
  const parts = mask.split('.').map(Number);
  return address
    .split('.')
    .map((byte, i) => Number(byte) & (parts[i] ?? 0))
    .join('.');
};
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

const nameOf = ({ device, sections }: Seen): string => settingOf(sections, 'hostname') ?? device.name;

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

const one = (device: Device, shown: Interface, i: number): string => {
  const { name, description, address, mask, mtu, down } = shown;
  const ethernet = `Ethernet, address is 0200.5e${hexOf(numberOf(device))}.00${hexOf(i)}`;
  const lines = [
    `${name} is ${state(shown)}, line protocol is ${down ? 'down' : 'up'}`,
    `  Hardware is ${name.startsWith('Loopback') ? 'Loopback' : ethernet}`,
  ];
  if (description) lines.push(`  Description: ${description}`);
  if (address) lines.push(`  Internet address is ${address}/${bitsOf(mask)}`);
  lines.push(`  MTU ${mtu} bytes, BW 1000000 Kbit/sec`);
  return lines.join('\n');
};

const interfaces: Show['print'] = ({ device, sections }, rest) => {
  const all = interfacesOf(sections).map((each, i) => ({ each, i }));
  const wanted = rest === '' ? all : all.filter(({ each }) => each.name.toLowerCase() === rest.toLowerCase());
  return wanted.length > 0 ? wanted.map(({ each, i }) => one(device, each, i)).join('\n') : invalid;
};

const running: Show['print'] = ({ sections }, rest) => {
  if (rest === '')
    return `Building configuration...\n\nCurrent configuration : ${print(sections).length} bytes\n${print(sections)}`;
  const wanted = sections.filter(({ line }) => line.toLowerCase() === rest.toLowerCase());
  return wanted.length > 0 ? print(wanted) : invalid;
};

const routes: Show['print'] = ({ sections }) =>
  [
    'Codes: C - connected, S - static',
    '',
    ...interfacesOf(sections).flatMap(({ address, mask, name, down }) => {
      if (!address || down) return [];
      return [`C        ${networkOf(address, mask)}/${bitsOf(mask)} is directly connected, ${name}`];
    }),
    ...sections
      .filter(({ line }) => /^ip route \S+ \S+ \S+/.test(line))
      .map(({ line }) => {
        const [, , network = '', mask = '', via = ''] = line.split(' ');
        return `S${network === '0.0.0.0' ? '*' : ' '}       ${network}/${bitsOf(mask)} [1/0] via ${via}`;
      }),
  ].join('\n');

const version: Show['print'] = (seen) => {
  const { vendor, hardware } = modelOf(seen.device);
  return [
    `${vendor}, Version ${settingOf(seen.sections, 'version') ?? modelOf(seen.device).version}`,
    `${nameOf(seen)} uptime is ${uptime(seen.up)}`,
    `${hardware} (simulated) with ${interfacesOf(seen.sections).length} interfaces`,
    `Processor board ID ${serialOf(seen.device)}`,
  ].join('\n');
};

const shows: readonly Show[] = [
  { words: ['show', 'version'], print: version },
  { words: ['show', 'running-config'], more: true, print: running },
  { words: ['show', 'startup-config'], print: ({ sections }) => print(sections) },
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
    print: ({ device }) =>
      `NAME: "Chassis", DESCR: "${modelOf(device).hardware} (simulated)"\nPID: ${modelOf(device).hardware}, VID: V01, SN: ${serialOf(device)}`,
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

const invalid = "              ^\n% Invalid input detected at '^' marker.\n";

/**
 * Runs a command and returns its output. Words may be shortened as on a real device. `| include`, `exclude`, `begin`
 * and `section` filter lines.
 */
export const answerTo = (command: string, seen: Seen): string => {
  const [said = '', ...filters] = command.trim().split(/\s+\|\s+/);
  const typed = said.split(/\s+/);
  const fits = ({ words }: Show) => words.every((word, i) => word.startsWith((typed[i] ?? '').toLowerCase()));
  const found = shows.find(
    (show) => fits(show) && (typed.length === show.words.length || (typed.length > show.words.length && show.more)),
  );
  if (!found)
    return shows.some((show) => fits(show) && typed.length < show.words.length) ? '% Incomplete command.\n' : invalid;
  return filters.reduce(filtered, found.print(seen, typed.slice(found.words.length).join(' ')));
};

const filtered = (text: string, filter: string): string => {
  const [, how = '', what = ''] = /^(\S+)\s+(.*)$/.exec(filter.trim()) ?? [];
  const lines = text.split('\n');
  if ('include'.startsWith(how) && how) return lines.filter((line) => line.includes(what)).join('\n');
  if ('exclude'.startsWith(how) && how) return lines.filter((line) => !line.includes(what)).join('\n');
  if ('begin'.startsWith(how) && how)
    return lines.slice(lines.findIndex((line) => line.includes(what)) >>> 0).join('\n');
  if (!('section'.startsWith(how) && how)) return invalid;
  let inside = false;
  const wanted = lines.filter((line) => {
    if (!/^\s/.test(line)) inside = line.includes(what);
    return inside;
  });
  return wanted.join('\n');
};
