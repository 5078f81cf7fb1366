import type { DeviceType } from './type.ts';
import { numberSign } from './words.ts';

export const fortinetFortios: DeviceType = {
  name: 'fortinet-fortios',
  title: 'Fortinet FortiOS',
  aliases: ['fortios', 'fortinet', 'fortigate', 'fortinet.fortios.fortios'],
  prompt: /^([\w.-]+)(?: \([^)]*\))? ?[#$]$/,
  rename: /^set hostname "?([^\s"]+)/,
  setup: ['config system console', 'set output standard', 'end'],
  enter: [],
  leave: [],
  abandon: ['abort', 'end'],
  save: [],
  running: 'show',
  undo: [
    [/^unset (.+)$/, 'set $1'],
    [/^delete (.+)$/, 'edit $1'],
  ],
  undoneBy: [
    [/^set (\S+).*$/, 'unset $1'],
    [/^edit (.+)$/, 'delete $1'],
  ],
  closes: [
    [/^config .+$/, 'end'],
    [/^edit .+$/, 'next'],
  ],
  undoWords: '`unset` instead of `set`, `delete` instead of `edit`',
  form: 'sections',
  comment: numberSign,
  volatile: [/^#(?:config-version|conf_file_ver|buildno|global_vdom)=/, /^set \S+ ENC \S+$/],
  refusals: [
    /^command fail\b/i,
    /\breturn code -\d+/i,
    /^(?:command|value) parse error\b/i,
    /^(?:entry not found|object (?:check|set) operator error)/i,
    /^(?:node_check_object|incomplete command|ambiguous command|unknown action|invalid )/i,
    /^attribute '.*' must be set/i,
    /^.* (?:is not valid|does not exist|is used by other entries|discard the setting)\b/i,
  ],
  harmless: [/^new entry '.*' added$/i, /^change for '.*' made$/i],
  questions: [
    { asks: /do you want to continue\? ?\(y\/n\)$/i, answer: 'y' },
    { asks: /press 'a' to accept.*$|\(press 'a' to accept\):?$/i, answer: 'a' },
  ],
};
