import { cliLines } from '../../texts/cliLines.ts';
import { linux } from '../../types/linux.ts';
import { factsOf } from '../facts.ts';
import type { LabForm } from './form.ts';

/** Commands that are carried out; only those that name the host or set a value of the kernel leave something behind. */
const commands = new Set(
  `apt-get cat chmod chown cp date echo hostname hostnamectl install ip ln ls mkdir mv nft rm sed sysctl systemctl tee timedatectl
  touch true uname useradd usermod`.split(/\s+/),
);

const plain = (line: string): string => line.trim().replace(/^sudo /, '');
const refusal = (line: string): string => `bash: ${plain(line).split(' ')[0]}: command not found`;
const effect = /^(?:(hostname)(?:ctl set-hostname)? ([\w.-]+)|sysctl -w ([\w.]+) ?= ?(.+))$/;

const settingsIn = (memory: string): Map<string, string> =>
  new Map([...memory.matchAll(/^(\S+) (.*)$/gm)].map(([, key = '', value = '']) => [key, value]));

/** A shell: its lines are commands, and it has no configuration. */
export const linuxForm: LabForm = {
  file: linux.name,
  refusal,
  initial: (device) => `hostname ${factsOf(device).name}\n`,
  take: (memory, config) => {
    const values = settingsIn(memory);
    const refused = cliLines(config).flatMap((line, i) => {
      if (linux.comment.test(line.trim())) return [];
      const [, host, name, key, value] = effect.exec(plain(line)) ?? [];
      if (host !== undefined && name !== undefined) values.set(host, name);
      if (key !== undefined && value !== undefined) values.set(key, value);
      return commands.has(plain(line).split(' ')[0] ?? '') ? [] : [{ line: i + 1, text: line.trim() }];
    });
    return { memory: [...values].map(([key, value]) => `${key} ${value}\n`).join(''), refused };
  },
  answer: (command, { memory }) => {
    const [typed, key] = plain(command).split(' ');
    const values = settingsIn(memory);
    if (typed === 'hostname') return `${values.get('hostname')}\n`;
    if (typed === 'uname') return 'Linux (simulated)\n';
    if (typed !== 'sysctl') return commands.has(typed ?? '') ? '' : `${refusal(command)}\n`;
    const value = values.get(key ?? '');
    return value === undefined
      ? `sysctl: cannot stat /proc/sys/${key}: No such file or directory\n`
      : `${key} = ${value}\n`;
  },
};
