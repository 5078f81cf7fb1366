import type { DeviceType } from './type.ts';
import { numberSign } from './words.ts';

export const nokiaSros: DeviceType = {
  name: 'nokia-sros',
  title: 'Nokia SR OS (MD-CLI)',
  aliases: ['sros', 'nokia', 'alcatel-sros', 'nokia-sr-os', 'nokia-sros-md', 'nokia.sros.md', 'community.network.sros'],
  prompt: /^[*!]?[A-D]:(?:[\w.-]+@)?([\w.-]+)(?:>[^#$]*)?[#$]$/,
  rename: /(?:^|\s)system name "?([^\s"]+)/,
  enable: 'enable',
  setup: ['environment more false', 'environment console width 512', 'environment command-completion space false'],
  enter: ['edit-config exclusive'],
  leave: ['exit all', 'quit-config'],
  candidate: {
    commit: 'commit',
    discard: ['exit all', 'discard', 'quit-config'],
    check: 'validate',
    compare: 'compare',
    confirmed: 'commit confirmed {minutes}',
    confirm: 'commit confirmed accept',
    cancel: 'commit confirmed cancel',
    rollback: ['rollback 1', 'commit'],
  },
  save: ['admin save'],
  running: 'admin show configuration flat',
  verb: /^\/?configure /,
  undo: [[/^delete (.+)$/, '$1']],
  undoWords: '`delete` before the path',
  form: 'lines',
  comment: numberSign,
  volatile: [/^# (?:generated|finished) \w{3}\b/i],
  refusals: [
    /^(?:minor|major|critical)\s*:/i,
    /^error\s*:/i,
    /^(?:invalid|incorrect) (?:element|parameter|command|value)\b/i,
    /^(?:commit|validation|discard) failed\b/i,
  ],
  harmless: [
    /^[!*]*(?:\((?:ex|gl|pr|ro|op)\))?\[.*\]$/,
    /^info: cli #\d+: \S.*$/i,
    /^(?:writing|saving) configuration to\b/i,
    /^completed\.?$/i,
  ],
  questions: [
    { asks: /uncommitted changes (?:are present|exist).*discard changes\? \[y,n\]\??$/i, answer: 'y' },
    { asks: /discard uncommitted changes\? \[y,n\]\??$/i, answer: 'y' },
    { asks: /are you sure\b.*\[y,n\]\??$/i, answer: 'y' },
  ],
};
