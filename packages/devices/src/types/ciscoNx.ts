import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoRefusals, ciscoWithStartup } from './words.ts';

export const ciscoNx: DeviceType = {
  ...ciscoWithStartup,
  name: 'cisco-nx',
  title: 'Cisco NX-OS',
  aliases: ['nx', 'nxos', 'nx-os', 'nxos-ssh', 'cisco-nxos', 'cisco-nx-os', 'cisco.nxos.nxos'],
  rename: /^(?:hostname|switchname) (\S+)/,
  setup: ['terminal length 0', 'terminal width 511'],
  volatile: [
    /^!(?:command: show|time:|running configuration last done at:|no configuration change since last restart)/i,
  ],
  refusals: [
    ...ciscoRefusals,
    /^(?:syntax error|cmd exec error)\b/i,
    /^permission denied\b/i,
    /^(?:cannot|unable to) \w+/i,
    /^.*\bnot allowed\b/i,
  ],
  harmless: [
    ...ciscoHarmless,
    /^\[#+\s*\] *\d+%$/,
    /^copy complete, now saving to disk\b/i,
    /^warning: edge port type \(portfast\) should only be enabled on ports connected to a single$/i,
    /^edge port type \(portfast\) is enabled, can cause temporary bridging loops\.?$/i,
  ],
  questions: [{ asks: /(?:continue|proceed|sure)[^?]*\? ?[([]y(?:es)?\/n(?:o)?[)\]].*$/i, answer: 'y' }],
};
