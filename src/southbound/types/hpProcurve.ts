import type { DeviceType } from './type.ts';
import { ciscoHarmless, hostname, plainPrompt, undoneByNo } from './words.ts';

export const hpProcurve: DeviceType = {
  name: 'hp-procurve',
  title: 'HP ProCurve and ArubaOS-Switch',
  aliases: ['procurve', 'hp', 'aruba-osswitch', 'aruba-procurve', 'arubaoss', 'hpe-procurve'],
  prompt: plainPrompt,
  rename: hostname,
  enable: 'enable',
  setup: ['no page', 'terminal width 511'],
  enter: ['configure terminal'],
  leave: ['end'],
  save: ['write memory'],
  running: 'show running-config',
  startup: 'show config',
  ...undoneByNo,
  form: 'sections',
  comment: /^[;!]/,
  refusals: [
    /^(?:invalid|incomplete|ambiguous) input\b/i,
    /^(?:invalid|incorrect|unknown|inconsistent) (?:value|parameter|command|input)\b/i,
    /^(?:error|failure)\b\s*:/i,
    /^(?:module not present|unable to|cannot|command failed|operation denied|not authorized|duplicate)\b/i,
    /^.* (?:not found|is invalid|already (?:exists|in use)|is not supported|out of range)\.?$/i,
  ],
  harmless: ciscoHarmless,
  questions: [
    { asks: /press any key to continue\.*$/i, answer: '' },
    { asks: /save current configuration \[y\/n(?:\/\^c)?\]\s*\??$/i, answer: 'n' },
    { asks: /(?:continue|proceed|sure)[^[]*\[y\/n\]\s*\??$/i, answer: 'y' },
  ],
};
