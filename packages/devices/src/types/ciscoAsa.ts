import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoWithStartup } from './words.ts';

export const ciscoAsa: DeviceType = {
  ...ciscoWithStartup,
  name: 'cisco-asa',
  title: 'Cisco ASA',
  aliases: ['asa', 'cisco.asa.asa'],
  prompt: /^([^\s()#>/]+)(?:\/[\w./-]+)?(?:\([^)]*\))?[>#]$/,
  setup: ['terminal pager 0'],
  save: ['write memory'],
  volatile: [/^: (?:saved|written by)\b/i, /^cryptochecksum:/i, /^ntp clock-period \d+$/],
  harmless: [...ciscoHarmless, /^info: /i, /^cryptochecksum: /i, /^\d+ bytes copied in\b/i, /^\*+ warning \*+$/i],
  questions: [
    { asks: /help improve the asa platform.*\[y\]es, \[n\]o, \[a\]sk later:$/i, answer: 'A' },
    { asks: /\[y\]es, \[n\]o, \[a\]sk later:$/i, answer: 'A' },
    { asks: /\[confirm\]$/i, answer: '' },
    { asks: /(?:continue|proceed|sure)[^?]*\? ?[([]y(?:es)?\/n(?:o)?[)\]]:?$/i, answer: 'yes' },
  ],
};
