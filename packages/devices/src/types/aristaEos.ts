import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoWithStartup } from './words.ts';

export const aristaEos: DeviceType = {
  ...ciscoWithStartup,
  name: 'arista-eos',
  title: 'Arista EOS',
  aliases: ['eos', 'arista', 'arista.eos.eos'],
  setup: ['terminal length 0', 'terminal width 32767'],
  enter: ['configure session'],
  leave: [],
  candidate: {
    commit: 'commit',
    discard: ['abort'],
    compare: 'show session-config diffs',
    confirmed: 'commit timer {hh}:{mm}:00',
    confirm: 'configure session change-{change} commit',
    namedEnter: ['configure session change-{change}'],
    rollback: ['rollback clean-config', 'copy startup-config session-config'],
    confirmsOutside: true,
    replace: { enter: ['rollback clean-config'] },
    entered: /^configure session\b/,
  },
  volatile: [/^! (?:command: show|startup-config last modified at|time:)/i],
  harmless: [
    ...ciscoHarmless,
    /^pagination disabled\b/i,
    /^width set to\b/i,
    /^copy completed successfully\b/i,
    /^! \S/,
  ],
  questions: [{ asks: /\[confirm\]$/i, answer: '' }],
};
