/**
 * Splits a configuration text into its commands, in their order, without empty lines. A banner is one command of
 * several lines, from its delimiter to the next one.
 */
export const cliLines = (config: string): readonly string[] => {
  const commands: string[] = [];
  let open: { readonly delimiter: string; readonly lines: string[] } | undefined;
  for (const line of config.split(/\r\n|\r|\n/)) {
    if (open) {
      open.lines.push(line);
      if (!line.includes(open.delimiter)) continue;
      commands.push(open.lines.join('\n'));
      open = undefined;
      continue;
    }
    const text = line.trimEnd();
    if (text === '') continue;
    const [, delimiter, rest = ''] = /^\s*banner \S+ (\^C|\S)(.*)$/.exec(text) ?? [];
    const oneLine = delimiter === undefined || /^\w$/.test(delimiter) || rest.includes(delimiter);
    if (oneLine) commands.push(text);
    else open = { delimiter, lines: [text] };
  }
  if (open) commands.push(open.lines.join('\n'));
  return commands;
};
