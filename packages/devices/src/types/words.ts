import { deviceTypeOf } from '@automation-platform/configurations';

/** `core-1#`, `core-1(config-if)#`, `core-1>` */
const plainPrompt = /^([^\s()#>]+)(?:\([^)]*\))?[>#]$/;

/** `hostname core-1` */
export const hostname = /^hostname "?([^\s"]+)/;

/** A line of the device's log, which comes at any time. */
const log = /^\*?(?:[\w:./ +]+: )*%[\w]+-(?:[\w]+-)?\d-[\w]+ ?:/;

/** Cisco's way to refuse a line. Arista and HP use it too. */
const percent = /^!*%\s*(?!warning|note|info|portfast)/i;

export const ciscoRefusals: readonly RegExp[] = [
  percent,
  /^bad (?:mask|address|ip|netmask|value|parameter)\b/i,
  /^(?:command|request) (?:rejected|authorization failed|failed)/i,
  /^invalid (?:value\/range|input|command|syntax|value|parameter|argument|ip|number|range)\b/i,
  /^(?:incomplete|ambiguous|inconsistent) (?:command|input|value)/i,
  /^(?:error|errors|failure|fatal)\b\s*:/i,
];

export const ciscoHarmless: readonly RegExp[] = [
  log,
  /^enter configuration commands, one per line\b/i,
  /^enter text message\b/i,
  /^building configuration\b/i,
  /^\[ok\]$/i,
  /^copy complete\b/i,
  /^%?warning: portfast should only be enabled on ports connected to a single$/i,
  /^host\. connecting hubs, concentrators, switches, bridges, etc\.\.\. to this$/i,
  /^interface\s+when portfast is enabled, can cause temporary bridging loops\.?$/i,
  /^use with caution$/i,
  /^%portfast (?:has been configured on|will be configured in)\b/i,
  /^have(?:ing)? (?:only have )?effect when the interface is in a non-trunking mode\.?$/i,
];

/** `[edit interfaces ge-0/0/0]`: where a line stands. */
export const editBanner = /^\[edit\b.*\]$/;

/** How a line is undone by a word before it: what it is undone by, and the line that is not there any more. */
const undoneByWord = (word: string) =>
  ({
    undo: [[new RegExp(`^${word} (.+)$`), '$1']],
    undoWords: `\`${word}\` before the line`,
    undoneBy: [
      [new RegExp(`^${word} (.+)$`), '$1'],
      [/^(.+)$/, `${word} $1`],
    ],
  }) as const;

/** How lines of a type in sections are undone, by the word that comparing knows. */
export const undoneAs = (type: string) => undoneByWord(deviceTypeOf(type).negation ?? 'no');

export const undoneByNo = { ...undoneByWord('no'), closes: [[/^.+$/, 'exit']] } as const;
export const undoneByDelete = {
  verb: /^set /,
  undo: [[/^delete (.+)$/, '$1']],
  undoWords: '`delete` instead of `set`',
  undoneBy: [[/^set (.+)$/, 'delete $1']],
} as const;

export const exclamation = /^!/;
export const numberSign = /^#/;

/** How devices whose command line is like Cisco's are configured. */
export const ciscoLike = {
  rename: hostname,
  enter: ['configure terminal'],
  leave: ['end'],
  running: 'show running-config',
  ...undoneByNo,
  form: 'sections',
  comment: exclamation,
  refusals: ciscoRefusals,
  harmless: ciscoHarmless,
} as const;

/** Those of them that give the rights to configure by a command, and keep a startup configuration. */
export const ciscoWithStartup = {
  ...ciscoLike,
  prompt: plainPrompt,
  enable: 'enable',
  save: ['copy running-config startup-config'],
  startup: 'show startup-config',
} as const;
