import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoWithStartup } from './words.ts';

export const ciscoIos: DeviceType = {
  ...ciscoWithStartup,
  name: 'cisco-ios',
  title: 'Cisco IOS and IOS XE',
  aliases: ['ios', 'iosxe', 'ios-xe', 'cisco-xe', 'cisco-ios-xe', 'cisco-iosxe', 'cisco.ios.ios'],
  setup: ['terminal length 0', 'terminal width 511'],
  volatile: [
    /^building configuration\b/i,
    /^current configuration ?: \d+ bytes$/i,
    /^! (?:last configuration change|nvram config last updated) at\b/i,
    /^! no configuration change since last restart$/i,
    /^ntp clock-period \d+$/,
  ],
  harmless: [
    ...ciscoHarmless,
    /^% ?(?:interface )?\S+ (?:ipv[46] )?(?:disabled and )?address(?:\(es\)|es)? .*removed due to\b/i,
    /^% generating \d+ bit\b/i,
    /^% the key modulus size is\b/i,
    /^the name for the keys will be\b/i,
  ],
  questions: [
    { asks: /\[confirm\]$/i, answer: '' },
    { asks: /do you really want to replace them\? \[yes\/no\]:$/i, answer: 'no' },
    { asks: /destination filename \[[^\]]*\]\?$/i, answer: '' },
    { asks: /overwrite the previous nvram configuration\?\s*\[confirm\]$/i, answer: '' },
    { asks: /(?:continue|proceed)[^?]*\? ?\[(?:yes|y)\/(?:no|n)\]:?$/i, answer: 'yes' },
  ],
};
