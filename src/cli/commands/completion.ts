import { argument, type CommandRow, command, flagOf } from '../engine/command.ts';

export const completion = command({
  name: 'completion',
  about: 'Print a script that completes commands and options in a shell',
  args: { shell: { ...argument('the shell'), choices: ['bash', 'zsh'] } },
  help: `\
bash: automation-platform completion bash > ~/.local/share/bash-completion/completions/automation-platform
zsh:  automation-platform completion zsh > <a folder of $fpath>/_automation-platform`,
  run: async ({ shell }, rows) => {
    process.stdout.write(completionFor(shell, rows));
    return 0;
  },
});

/** A word that may come next, and what it means. */
type Word = { readonly word: string; readonly about: string };

/** The words that may follow each beginning of a command: '' is followed by `log`, `log` by `copy`. */
const wordsAfter = (rows: readonly CommandRow[]): ReadonlyMap<string, readonly Word[]> => {
  const after = new Map<string, Word[]>([['', []]]);
  const add = (path: string, word: string, about: string): void => {
    const words = after.get(path) ?? [];
    after.set(path, words);
    if (!words.some((one) => one.word === word)) words.push({ word, about });
  };
  for (const { name, about, args, options } of rows) {
    const [first = '', second] = name.split(' ');
    add('', first, second === undefined ? about : `commands of ${first}`);
    if (second !== undefined) add(first, second, about);
    for (const argument of Object.values(args))
      for (const choice of argument.choices ?? []) add(name, choice, argument.about);
    for (const [key, option] of Object.entries(options)) add(name, flagOf(key), option.about);
    add(name, '--help', 'help');
  }
  for (const word of ['--help', '--version']) add('', word, word.slice(2));
  return after;
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The cases of a shell that turn a beginning of a command into the words that may follow. */
const cases = (rows: readonly CommandRow[], wordsOf: (words: readonly Word[]) => string): string =>
  [...wordsAfter(rows)].map(([path, words]) => `    ${quoted(path)}) known=(${wordsOf(words)}) ;;`).join('\n');

// Zsh has a variable `path` of its own, so the name here is `said`. A word belongs to the command while the words before it do.
const pathOf = (rows: readonly CommandRow[]): string => {
  const paths = [...wordsAfter(rows).keys()].filter((path) => path !== '').map(quoted);
  return `for word in "\${before[@]}"; do
    case "\${said:+$said }$word" in
      ${paths.join('|')}) said="\${said:+$said }$word" ;;
      *) break ;;
    esac
  done`;
};

const bash = (rows: readonly CommandRow[]): string => `# completion of automation-platform for bash
_automation_platform() {
  local current="\${COMP_WORDS[COMP_CWORD]}" said='' word known
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  ${pathOf(rows)}
  case "$said" in
${cases(rows, (words) => words.map(({ word }) => word).join(' '))}
  esac
  COMPREPLY=($(compgen -W "\${known[*]}" -- "$current"))
}
complete -o bashdefault -o default -F _automation_platform automation-platform
`;

// A colon ends the word in what _describe reads.
const described = ({ word, about }: Word): string => quoted(`${word}:${about}`);

const zsh = (rows: readonly CommandRow[]): string => `#compdef automation-platform
# completion of automation-platform for zsh
_automation_platform() {
  local said='' word
  local -a known before
  before=("\${(@)words[2,CURRENT-1]}")
  ${pathOf(rows)}
  case "$said" in
${cases(rows, (words) => words.map(described).join(' '))}
  esac
  _describe command known || _files
}
compdef _automation_platform automation-platform
`;

/** The script that completes commands, options and choices of arguments. Else it completes names of files. */
export const completionFor = (shell: string, rows: readonly CommandRow[]): string =>
  shell === 'zsh' ? zsh(rows) : bash(rows);
