import type { DeviceType } from './type.ts';
import { numberSign } from './words.ts';

export const mikrotikRouteros: DeviceType = {
  name: 'mikrotik-routeros',
  title: 'MikroTik RouterOS',
  aliases: ['routeros', 'mikrotik', 'ros', 'community.routeros.routeros', 'community.network.routeros'],
  prompt: /^\[(?:[^@\]]+@)?([^\]]+)\](?: [^>]*)?>$/,
  rename: /\bidentity set name="?([^\s"]+)/,
  lineEnd: '\r\n',
  setup: [],
  enter: [],
  leave: [],
  save: [],
  running: '/export terse',
  undoWords: '`remove` with what finds the entry',
  form: 'menus',
  comment: numberSign,
  volatile: [/^# (?:\w{3}\/\d+\/\d{4}|\d{4}-\d+-\d+) [\d:]+ by routeros\b/i],
  refusals: [
    /^bad command name\b/i,
    /^syntax error\b/i,
    /^expected (?:end of command|command name|closing)/i,
    /^no such (?:item|command|argument)/i,
    /^(?:input does not match any value|ambiguous value|invalid (?:value|internal item|time|address))/i,
    /^(?:failure|error)\b\s*:/i,
    /^(?:value of|missing value|unknown parameter|not enough permissions|action (?:failed|timed out)|interrupted)\b/i,
  ],
  harmless: [/^saving (?:system )?configuration\b/i],
  questions: [
    { asks: /do you want to see the software license\? \[y\/n\]:?$/i, answer: 'n' },
    { asks: /please press "enter" to continue!?$/i, answer: '' },
    { asks: /\[y\/n\]:?$/i, answer: 'y' },
  ],
};
