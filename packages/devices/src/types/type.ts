/** A question that a device may ask, at the end of a line, and the line that answers it. */
type Question = { readonly asks: RegExp; readonly answer: string };

/**
 * How a candidate takes the place of the whole configuration. `enter`: lines before those of the configuration. `load`: a
 * command that reads the configuration as one text. `commit`: instead of the plain commit.
 */
type Replacement = { readonly enter?: readonly string[]; readonly load?: string; readonly commit?: string };

/** How a device takes lines into a candidate, which becomes the running configuration by a commit alone. */
type Candidate = {
  readonly commit: string;
  /** Forgets the candidate, and leaves the mode. */
  readonly discard: readonly string[];
  /** Says whether the candidate would be taken. */
  readonly check?: string;
  /** Shows what the candidate changes. */
  readonly compare?: string;
  /** A commit that the device takes back unless `confirm` comes in time: {minutes}, or {hh} and {mm}, stand for the time. */
  readonly confirmed?: string;
  readonly confirm?: string;
  /** Lines before a configuration that is to be confirmed, where it needs a name: {change}. */
  readonly namedEnter?: readonly string[];
  /** Takes such a commit back at once. */
  readonly cancel?: string;
  /** Goes back to the configuration before the last commit. */
  readonly rollback?: readonly string[];
  /** True if `confirm` is a command outside the mode of configurations. */
  readonly confirmsOutside?: true;
  /** How it takes the place of the whole configuration. */
  readonly replace?: Replacement;
  /** Where it is entered by one way alone: only if a line before the configuration is so. */
  readonly entered?: RegExp;
};

/** The facts about the devices of a type. Expressions are tried on one line without blanks around it. */
export type DeviceType = {
  readonly name: string;
  readonly title: string;
  /** Other names, also of Ansible, netmiko and NAPALM, in lower case and with `-`. */
  readonly aliases: readonly string[];
  /** Its prompts. The group is the device's name. None: a prompt is what ends with one of `#>$%`. */
  readonly prompt?: RegExp;
  /** Prompts have the name of a view after the device's name and this sign. */
  readonly viewAfter?: string;
  /** A line that gives the device another name: the group. */
  readonly rename?: RegExp;
  /** The questions in the shell before the first prompt. */
  readonly login?: readonly { readonly asks: RegExp; readonly of: 'username' | 'password' }[];
  /** The command that gives the rights to configure; it asks for a password. */
  readonly enable?: string;
  /** The end of a line that is sent, if not a newline. */
  readonly lineEnd?: string;
  /** Commands after which nothing comes in pages. */
  readonly setup: readonly string[];
  readonly enter: readonly string[];
  readonly leave: readonly string[];
  /** Instead of `leave` where a line was refused. */
  readonly abandon?: readonly string[];
  readonly candidate?: Candidate;
  /** Commands that make the running configuration the startup one, after `leave`. */
  readonly save: readonly string[];
  /** The command that shows the running configuration. */
  readonly running?: string;
  /** True if `running` works between `enter` and `leave` alone. */
  readonly showsWithin?: true;
  readonly startup?: string;
  /** How a line is undone, and the line that is not there any more; none where that does not show. */
  readonly undo?: readonly (readonly [RegExp, string])[];
  readonly undoWords: string;
  /** The line that removes one that is shown, by the first form that fits. None: it takes other words. */
  readonly undoneBy?: readonly (readonly [RegExp, string])[];
  /** The line that leaves the section of a line, by the first form that fits. */
  readonly closes?: readonly (readonly [RegExp, string])[];
  /** The beginning of a line that says what is done, and is no part of what is there. */
  readonly verb?: RegExp;
  /** How `running` shows a configuration: in sections, or as one whole line each, below menus if so. */
  readonly form: 'sections' | 'lines' | 'menus';
  /** Lines of a configuration that are not sent. */
  readonly comment: RegExp;
  /** Lines of a configuration that always change, such as times: they are no change. None unless given. */
  readonly volatile?: readonly RegExp[];
  readonly refusals: readonly RegExp[];
  readonly harmless: readonly RegExp[];
  readonly questions: readonly Question[];
  /** The command that prints the exit status of the command before it: 0 if it was carried out. */
  readonly exitStatus?: string;
};
