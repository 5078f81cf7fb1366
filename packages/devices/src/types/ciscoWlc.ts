import type { DeviceType } from './type.ts';
import { exclamation } from './words.ts';

export const ciscoWlc: DeviceType = {
  name: 'cisco-wlc',
  title: 'Cisco WLC (AireOS)',
  aliases: ['wlc', 'aireos', 'cisco-aireos', 'cisco-wlc-ssh', 'community.network.aireos'],
  prompt: /^\(([^)]+)\) (?:[\w-]+)?>$/,
  rename: /^(?:config )?(?:prompt|sysname) "?([^"]+?)"?$/,
  // SSH lets everybody in; the shell asks who it is.
  login: [
    { asks: /^user ?(?:name)?:$/i, of: 'username' },
    { asks: /^password:$/i, of: 'password' },
  ],
  setup: ['config paging disable'],
  enter: ['config'],
  leave: ['exit'],
  save: ['save config'],
  running: 'show run-config commands',
  startup: 'show run-config startup-commands',
  verb: /^config /,
  undoWords: '`delete` or `disable` within the line, as the command has it',
  form: 'lines',
  comment: exclamation,
  refusals: [
    /^incorrect (?:usage|input)\b/i,
    /^(?:invalid|unknown|unrecognized|unable|cannot|error|failed|request failed|not allowed)\b/i,
    /\b(?:does not exist|already exists|must be disabled|not supported|is in use|is not valid)\b/i,
  ],
  harmless: [/^configuration saved!?$/i, /^are you sure\b/i, /^(?:changes|this) will take effect\b/i],
  questions: [
    { asks: /would you like to save them now\? ?\(y\/n\)$/i, answer: 'n' },
    { asks: /display the next[^?]*\? ?\(y\/n\)$/i, answer: 'y' },
    { asks: /\(y\/n\)\s*:?$/i, answer: 'y' },
    { asks: /press enter to continue.*$/i, answer: '' },
  ],
};
