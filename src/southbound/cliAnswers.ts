/** What an adapter knows of its devices beside the tables here: parts of lines, in any case. */
export type KnownAnswers = { readonly refusals?: readonly string[]; readonly harmless?: readonly string[] };

/** What a device says to a line: the line by which it refuses it, and lines of which nobody knows what they mean. */
export type Judged = { readonly refusal: string | undefined; readonly unrecognized: readonly string[] };

/** How devices refuse a line, by vendor. */
const refusals: readonly RegExp[] = [
  // Cisco IOS, IOS XE, IOS XR, NX-OS, ASA; Arista EOS
  /^!*%\s*(?!warning|note|info|portfast)/i,
  /^bad (?:mask|address|ip|netmask|value|parameter)\b/i,
  /^(?:command|request) (?:rejected|authorization failed|failed)/i,
  /^invalid (?:value\/range|input|command|syntax|value|parameter|argument|ip|number|range)\b/i,
  /^(?:incomplete|ambiguous|inconsistent) (?:command|input|value)/i,
  /^(?:error|errors|failure|fatal)\b\s*:/i,
  // Juniper Junos
  /^syntax error\b/i,
  /^unknown (?:command|action|keyword)\b/i,
  /^(?:missing|invalid) (?:argument|mandatory)/i,
  /^(?:commit|set|delete|load|rollback|configuration check-out) failed\b/i,
  // Palo Alto PAN-OS
  /^(?:server|validation) error\b/i,
  // Fortinet FortiOS
  /^command fail\b/i,
  /\breturn code -\d+/i,
  /^(?:command|value) parse error\b/i,
  /^(?:entry not found|object (?:check|set) operator error)/i,
  // MikroTik RouterOS
  /^bad command name\b/i,
  /^expected (?:end of command|command name|closing)/i,
  /^no such (?:item|command|argument)/i,
  /^(?:input does not match any value|ambiguous value)/i,
  // Nokia SR OS
  /^(?:minor|major|critical)\s*:/i,
  // VyOS
  /^configuration path: .* is not valid/i,
  // Cisco WLC
  /^incorrect usage\b/i,
  // Huawei VRP
  /^(?:unrecognized|wrong|too many) (?:command|parameter|parameters)\b/i,
  // Shells
  /:\s*(?:command )?not found$/i,
  /: (?:no such file or directory|permission denied|operation not permitted)$/i,
];

/** What devices say beside: that they take a text, are in another mode, or have done what they were told. */
const harmless: readonly RegExp[] = [
  /^enter configuration commands, one per line\b/i,
  /^enter text message\b/i,
  /^building configuration\b/i,
  /^\[ok\]$/i,
  /^(?:commit|load|copy) complete\b/i,
  /^configuration (?:committed|saved)\b/i,
  /^(?:entering|exiting) configuration mode\b/i,
  /^\[edit\b.*\]$/,
  /^%?warning: portfast should only be enabled on ports connected to a single$/i,
  /^host\. connecting hubs, concentrators, switches, bridges, etc\.\.\. to this$/i,
  /^interface\s+when portfast is enabled, can cause temporary bridging loops\.?$/i,
  /^use with caution$/i,
  /^%portfast (?:has been configured on|will be configured in)\b/i,
  /^have(?:ing)? (?:only have )?effect when the interface is in a non-trunking mode\.?$/i,
];

const has = (line: string, parts: readonly string[] = []): boolean =>
  parts.some((part) => line.toLowerCase().includes(part.toLowerCase()));

/** Judges what a device says to a line. An adapter's own words go before the tables. */
export const judge = (printed: string, known: KnownAnswers): Judged => {
  const lines = printed.split('\n').map((line) => line.trim());
  const isHarmless = (line: string): boolean =>
    !/[^\s^]/.test(line) || has(line, known.harmless) || harmless.some((form) => form.test(line));
  const isRefusal = (line: string): boolean => has(line, known.refusals) || refusals.some((form) => form.test(line));
  const said = lines.filter((line) => has(line, known.refusals) || !isHarmless(line));
  return { refusal: said.find(isRefusal), unrecognized: said };
};

const mostLines = 3;

/** The line by which a device refuses to show something; undefined if it shows it. */
export const refusalIn = (printed: string, known: KnownAnswers): string | undefined => {
  const lines = printed.split('\n').filter((line) => line.trim() !== '');
  return lines.length > mostLines ? undefined : judge(printed, known).refusal;
};

const commitTypes = /ios-?_?xr|junos|juniper|vyos|pan-?os|palo-?alto/i;

/** True if a device takes lines into a configuration that only a commit makes the running one. */
export const needsCommit = ({ ostype = '', prompt, said }: Seen): boolean =>
  commitTypes.test(ostype) || /^RP\/\d+\/\w+\/CPU\d+:/.test(prompt) || /^\[edit\b.*\]$/m.test(said);

/** What shows of a device: its type as its adapter has it, its prompt, and what it has said. */
type Seen = { readonly ostype?: string | undefined; readonly prompt: string; readonly said: string };

export const isCommit = (line: string): boolean => /^\s*commit\b/i.test(line);
