import type { DeviceType } from './type.ts';
import { ciscoWithStartup } from './words.ts';

export const hpProcurve: DeviceType = {
  ...ciscoWithStartup,
  name: 'hp-procurve',
  title: 'HP ProCurve and ArubaOS-Switch',
  aliases: ['procurve', 'hp', 'aruba-osswitch', 'aruba-procurve', 'arubaoss', 'hpe-procurve'],
  setup: ['no page', 'terminal width 511'],
  save: ['write memory'],
  startup: 'show config',
  comment: /^[;!]/,
  refusals: [
    /^(?:invalid|incomplete|ambiguous) input\b/i,
    /^(?:invalid|incorrect|unknown|inconsistent) (?:value|parameter|command|input)\b/i,
    /^(?:error|failure)\b\s*:/i,
    /^(?:module not present|unable to|cannot|command failed|operation denied|not authorized|duplicate)\b/i,
    /^.* (?:not found|is invalid|already (?:exists|in use)|is not supported|out of range)\.?$/i,
  ],
  questions: [
    { asks: /press any key to continue\.*$/i, answer: '' },
    { asks: /save current configuration \[y\/n(?:\/\^c)?\]\s*\??$/i, answer: 'n' },
    { asks: /(?:continue|proceed|sure)[^[]*\[y\/n\]\s*\??$/i, answer: 'y' },
  ],
};
