import { argument, command } from '../engine/command.ts';

export const completion = command({
  name: 'completion',
  about: 'Print a script that completes commands and options in a shell',
  args: { shell: { ...argument('the shell'), choices: ['bash', 'zsh'] } },
  help: `\
bash: automation-platform completion bash > ~/.local/share/bash-completion/completions/automation-platform
zsh:  automation-platform completion zsh > <a folder of $fpath>/_automation-platform`,
  run: async ({ shell }, rows) => {
    const { completionFor } = await import('../engine/completion.ts');
    process.stdout.write(completionFor(shell, rows));
    return 0;
  },
});
