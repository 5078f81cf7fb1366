import type { DeviceType } from './type.ts';
import { ciscoHarmless, editBanner, exclamation, hostname, undoneByNo } from './words.ts';

/** The words for a device of an unknown type: Cisco's, and the refusals of all types. */
export const genericOf = (types: readonly DeviceType[]): DeviceType => ({
  name: 'generic',
  title: 'Any other',
  aliases: [],
  rename: hostname,
  enable: 'enable',
  setup: ['terminal length 0'],
  enter: ['configure terminal'],
  leave: ['end'],
  save: ['copy running-config startup-config'],
  running: 'show running-config',
  startup: 'show startup-config',
  ...undoneByNo,
  form: 'sections',
  comment: exclamation,
  refusals: [...new Set(types.flatMap(({ refusals }) => refusals))],
  harmless: [
    ...ciscoHarmless,
    editBanner,
    /^(?:commit|load) complete\b/i,
    /^configuration (?:committed|saved)\b/i,
    /^(?:entering|exiting) configuration mode\b/i,
  ],
  questions: [],
});
