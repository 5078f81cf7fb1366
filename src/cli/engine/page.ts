import { type CommandRow, flagOf, shownArg } from './command.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');

const tableOf = (rows: readonly (readonly [name: string, about: string, preset: string])[]): string => {
  const lines = rows.map(([name, about, preset]) => {
    const ending = preset === '' ? '' : ` (default: \`${preset}\`)`;
    return `| \`${cell(name)}\` | ${cell(about)}${ending} |`;
  });
  return lines.length === 0 ? '' : `| | |\n|---|---|\n${lines.join('\n')}`;
};

/** The usage line of a command. */
const usageOf = ({ name, args, options }: CommandRow): string => {
  const argTexts = Object.entries(args).map(([key, parameter]) => shownArg(key, parameter));
  const choosing = Object.keys(options).length > 0 ? ['[options]'] : [];
  return ['automation-platform', name, ...choosing, ...argTexts].join(' ');
};

const sectionOf = (row: CommandRow): string => {
  const args = Object.entries(row.args).map(
    ([key, parameter]) => [shownArg(key, parameter), parameter.about, String(parameter.preset ?? '')] as const,
  );
  const options = Object.entries(row.options).map(([key, { value, about, preset }]) => {
    const isFlag = value === undefined;
    return [isFlag ? flagOf(key) : `${flagOf(key)} ${value}`, about, isFlag ? '' : String(preset ?? '')] as const;
  });
  const help = row.help === '' ? '' : `\`\`\`text\n${row.help}\n\`\`\``;
  const parts = [`## ${row.name}`, `\`${usageOf(row)}\``, `${row.about}.`, tableOf([...args, ...options]), help];
  return parts.filter((part) => part !== '').join('\n\n');
};

/** docs/cli.md: every command of the table. */
export const pageOf = (rows: readonly CommandRow[]): string => `# Command line

This page is made from the table of commands in \`src/cli/table.ts\` by \`npm run golden\`.

In this repository a command is \`npm run --silent cli -- <command>\`, after \`npm run build\` also \`node dist/main.js
<command>\`; an installed package calls it \`automation-platform\`. \`npm start\` is \`serve\`; \`npm run account --\`,
\`npm run log --\` and \`npm run migrate --\` are \`account\`, \`log\` and \`migrate\`. Settings are those of the service, from
the environment ([settings](operations.md#settings)).

- A result is a table on a terminal, and lines of JSON elsewhere. Progress is shown on a terminal only.
- The exit status is 0 when all is fine, 1 after an error, 2 when the command was called wrongly, and 3 when it found
  something, such as a difference.
- \`<command> --help\` shows the help of that command. \`completion\` makes scripts that complete commands in a shell.

${rows.map(sectionOf).join('\n\n')}
`;
