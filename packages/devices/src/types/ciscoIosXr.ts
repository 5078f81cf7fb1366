import type { DeviceType } from './type.ts';
import { ciscoHarmless, ciscoLike, ciscoRefusals } from './words.ts';

export const ciscoIosXr: DeviceType = {
  ...ciscoLike,
  name: 'cisco-ios-xr',
  title: 'Cisco IOS XR',
  aliases: ['ios-xr', 'iosxr', 'cisco-iosxr', 'cisco-xr', 'iosxr-netconf', 'cisco.iosxr.iosxr'],
  prompt: /^(?:RP|LC)\/\d+\/\w+\/CPU\d+:([^\s()#>]+)(?:\([^)]*\))?[#>]$/,
  setup: ['terminal length 0', 'terminal width 511'],
  candidate: {
    commit: 'commit',
    discard: ['abort'],
    compare: 'show commit changes diff',
    confirmed: 'commit confirmed minutes {minutes}',
    confirm: 'commit',
    rollback: ['rollback configuration last 1'],
    replace: { commit: 'commit replace' },
  },
  save: [],
  volatile: [
    /^\w{3} \w{3} +\d+ [\d:.]+ \w+$/,
    /^building configuration\b/i,
    /^!! (?:last configuration change at|building configuration)\b/i,
  ],
  refusals: [...ciscoRefusals, /^commit failed\b/i],
  harmless: [
    ...ciscoHarmless,
    /^% ?no (?:configuration )?(?:changes|modifications) to commit\b/i,
    /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ \d\d:\d\d:\d\d/,
    /^loading\.?$/i,
    /^this commit will replace or remove the entire running configuration\. this$/i,
    /^operation can be service affecting\.$/i,
    /^\d+ items? committed in \d+ sec/i,
    /^updating\. ?(?:updated|commit database)/i,
  ],
  questions: [
    { asks: /uncommitted changes found, commit them[^?]*\?\s*\[cancel\]:$/i, answer: 'no' },
    { asks: /do you wish to proceed\? \[no\]:$/i, answer: 'yes' },
    { asks: /do you wish to proceed with this commit anyway\? \[no\]:$/i, answer: 'no' },
    { asks: /\[confirm\]$/i, answer: '' },
  ],
};
