import { cliLines } from '../../texts/cliLines.ts';
import type { RefusedLine } from '../../texts/sections.ts';
import { fortinetFortios as type } from '../../types/fortinetFortios.ts';
import { factsOf } from '../facts.ts';
import type { LabForm } from './form.ts';

/** Tables and their entries by their lines, settings by their names. */
type Table = Map<string, Table | string>;

const tables =
  `system firewall router vpn user log switch-controller wireless-controller webfilter antivirus ips application
  dlp report certificate endpoint-control`.split(/\s+/);

type Open = { readonly verb: string; readonly table: Table; readonly line: number; readonly text: string };

/** Carries out a line. Returns false if it is refused. `open`: the tables and entries that it stands in. */
const carryOut = (text: string, line: number, root: Table, open: Open[]): boolean => {
  const [verb = '', name = '', value] = text.split(' ');
  const inside = open.at(-1);
  if (verb === 'config' || verb === 'edit') {
    const isTop = !inside && verb === 'config' && tables.includes(name);
    const isNext = inside !== undefined && inside.verb !== verb && name !== '';
    if (!isTop && !isNext) return false;
    const parent = inside?.table ?? root;
    const there = parent.get(text);
    const table: Table = there instanceof Map ? there : new Map();
    parent.set(text, table);
    open.push({ verb, table, line, text });
    return true;
  }
  if (!inside) return false;
  if (verb === 'next') return inside.verb === 'edit' && open.pop() !== undefined;
  if (verb === 'end') {
    // The end of a table is that of its entry, too.
    open.splice(inside.verb === 'edit' ? -2 : -1);
    return true;
  }
  if (verb === 'set' && value !== undefined) inside.table.set(`set ${name}`, text);
  else if (verb === 'unset') inside.table.delete(`set ${name}`);
  else return verb === 'delete' && inside.table.delete(text.replace('delete', 'edit'));
  return true;
};

/** Takes lines into the tables, and returns those that are refused. */
const takeInto = (root: Table, config: string): readonly RefusedLine[] => {
  const refused: RefusedLine[] = [];
  const open: Open[] = [];
  cliLines(config).forEach((raw, i) => {
    const text = raw.trim().replace(/[ \t]+/g, ' ');
    if (!type.comment.test(text) && !carryOut(text, i + 1, root, open)) refused.push({ line: i + 1, text });
  });
  // Settings take effect at the end of their table alone.
  return [...refused, ...open.map(({ line, text }) => ({ line, text }))];
};

const written = (table: Table, indent = ''): string =>
  [...table]
    .map(([line, below]) => {
      if (typeof below === 'string') return `${indent}${below}\n`;
      const end = line.startsWith('edit ') ? 'next' : 'end';
      return `${indent}${line}\n${written(below, `${indent}    `)}${indent}${end}\n`;
    })
    .join('');

const initial: LabForm['initial'] = (device) => {
  const { n, name, address } = factsOf(device);
  const port = (of: string, alias: string, ip: string): string =>
    `edit "${of}"\nset vdom "root"\nset ip ${ip} 255.255.255.0\nset alias "${alias}"\nnext\n`;
  return [
    `config system global\nset hostname "${name}"\nset timezone "UTC"\nend`,
    `config system interface\n${port('port1', 'Management', address)}${port('port2', 'Uplink', `10.${n}.0.1`)}end`,
    'config system ntp\nset ntpsync enable\nset server-mode disable\nend',
    'config system snmp sysinfo\nset location "Lab"\nend',
    'config log syslogd setting\nset status enable\nset server "192.0.2.20"\nend',
    'config router static\nedit 1\nset gateway 192.0.2.254\nset device "port1"\nnext\nend',
  ].join('\n');
};

const refusal = (line: string): string =>
  `command parse error before '${line.split(' ').at(-1)}'\nCommand fail. Return code -61`;

const take: LabForm['take'] = (memory, config) => {
  const root: Table = new Map();
  takeInto(root, memory);
  const refused = takeInto(root, config);
  return { memory: written(root), refused };
};

export const fortiosForm: LabForm = {
  file: type.name,
  refusal,
  initial: (device) => take('', initial(device)).memory,
  take,
  show: (memory) => memory,
  answer: (command, { memory }) => {
    if (command.trim() === type.running) return memory;
    return command.trim() === 'get system status'
      ? 'Version: FortiGate-VM64 v7.4.3 (simulated)\n'
      : `${refusal(command)}\n`;
  },
};
