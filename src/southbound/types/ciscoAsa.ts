import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoRefusals, exclamation, hostname, undoneByNo } from './words.ts';

export const ciscoAsa: DeviceType = {
  name: 'cisco-asa',
  title: 'Cisco ASA',
  aliases: ['asa', 'cisco.asa.asa'],
  prompt: /^([^\s()#>/]+)(?:\/[\w./-]+)?(?:\([^)]*\))?[>#]$/,
  rename: hostname,
  enable: 'enable',
  setup: ['terminal pager 0'],
  enter: ['configure terminal'],
  leave: ['end'],
  save: ['write memory'],
  running: 'show running-config',
  startup: 'show startup-config',
  ...undoneByNo,
  form: 'sections',
  comment: exclamation,
  volatile: [/^: (?:saved|written by)\b/i, /^cryptochecksum:/i, /^ntp clock-period \d+$/],
  refusals: ciscoRefusals,
  harmless: [...ciscoHarmless, /^info: /i, /^cryptochecksum: /i, /^\d+ bytes copied in\b/i, /^\*+ warning \*+$/i],
  questions: [
    { asks: /help improve the asa platform.*\[y\]es, \[n\]o, \[a\]sk later:$/i, answer: 'A' },
    { asks: /\[y\]es, \[n\]o, \[a\]sk later:$/i, answer: 'A' },
    { asks: /\[confirm\]$/i, answer: '' },
    { asks: /(?:continue|proceed|sure)[^?]*\? ?[([]y(?:es)?\/n(?:o)?[)\]]:?$/i, answer: 'yes' },
  ],
};
