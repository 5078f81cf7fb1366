import type { DeviceType } from './type.ts';
import { numberSign, undoneAs } from './words.ts';

export const huaweiVrp: DeviceType = {
  name: 'huawei-vrp',
  title: 'Huawei VRP',
  aliases: ['vrp', 'huawei', 'huawei-vrpv8', 'ce', 'community.network.ce', 'huawei-vrp-ssh'],
  prompt: /^(?:HRP_[A-Z])?[<[][*~]?([\w./:-]+)[>\]]$/,
  viewAfter: '-',
  rename: /^sysname (\S+)/,
  setup: ['screen-length 0 temporary'],
  enter: ['system-view'],
  leave: ['return'],
  save: ['save'],
  running: 'display current-configuration',
  startup: 'display saved-configuration',
  ...undoneAs('huawei-vrp'),
  closes: [[/^.+$/, 'quit']],
  form: 'sections',
  comment: numberSign,
  volatile: [/^!(?:last configuration was (?:updated|saved)|software version)\b/i],
  refusals: [
    /^(?:error|failure)\b\s*:/i,
    /^(?:unrecognized|wrong|too many|incomplete|ambiguous) (?:command|parameter|parameters)\b/i,
    /^(?:operation|configuration) (?:failed|is not allowed)\b/i,
  ],
  harmless: [
    /^enter system view, return user view with\b/i,
    /^info: /i,
    /^(?:now saving|it will take several minutes|save the configuration|configuration file had been saved|note: the configuration)/i,
    /^warning: the current configuration will be written to the device\b/i,
    /^\w{3} +\d+ \d{4} \d\d:\d\d:\d\d.* %%\d+\w+\/\d\/\w+/,
  ],
  questions: [
    { asks: /(?:change now|please choose).*\[y\/n\]:?$/i, answer: 'n' },
    { asks: /commit them before exiting\?.*\[y\(yes\)\/n\(no\)\/c\(cancel\)\]:?$/i, answer: 'y' },
    { asks: /\[y\/n\]:?$/i, answer: 'y' },
  ],
};
