import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoRefusals, exclamation, hostname, plainPrompt, undoneByNo } from './words.ts';

export const aristaEos: DeviceType = {
  name: 'arista-eos',
  title: 'Arista EOS',
  aliases: ['eos', 'arista', 'arista.eos.eos'],
  prompt: plainPrompt,
  rename: hostname,
  enable: 'enable',
  setup: ['terminal length 0', 'terminal width 32767'],
  enter: ['configure session'],
  leave: [],
  candidate: {
    commit: 'commit',
    discard: ['abort'],
    compare: 'show session-config diffs',
    confirmed: 'commit timer 00:{minutes}:00',
    confirm: 'configure confirm',
    rollback: ['rollback clean-config', 'copy startup-config session-config'],
    entered: /^configure session\b/,
  },
  save: ['copy running-config startup-config'],
  running: 'show running-config',
  startup: 'show startup-config',
  ...undoneByNo,
  form: 'sections',
  comment: exclamation,
  volatile: [/^! (?:command: show|startup-config last modified at|time:)/i],
  refusals: ciscoRefusals,
  harmless: [
    ...ciscoHarmless,
    /^pagination disabled\b/i,
    /^width set to\b/i,
    /^copy completed successfully\b/i,
    /^! \S/,
  ],
  questions: [{ asks: /\[confirm\]$/i, answer: '' }],
};
