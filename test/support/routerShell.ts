import { merge, parse, print } from '@automation-platform/devices';
import type { ServerChannel } from 'ssh2';

/** A router that keeps its configuration from session to session, takes lines and `no`, and refuses what it does not know. */
export const routerShell = (initial: string) => {
  let running = parse(initial).sections;
  return (channel: ServerChannel): void => {
    let isConfiguring = false;
    let header: string | undefined;
    const answerTo = (line: string): string => {
      if (line === 'configure terminal' || line === 'end') {
        isConfiguring = line !== 'end';
        header = undefined;
        return '';
      }
      if (line === 'show running-config') return print(running);
      if (line === '' || line.startsWith('terminal ') || line.startsWith('copy ')) return '';
      const isWithin = line.startsWith(' ') && header !== undefined;
      const { sections, refused } = parse(isWithin ? `${header}\n${line}` : line);
      if (!isConfiguring || refused.length > 0) return "% Invalid input detected at '^' marker.\n";
      if (!isWithin) header = line;
      running = merge(running, sections);
      return '';
    };
    const prompt = (): string => `core-1${isConfiguring ? '(config)' : ''}#`;
    channel.write(prompt());
    let rest = '';
    channel.on('data', (data: Buffer) => {
      const lines = (rest + data).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) channel.write(`${line}\r\n${answerTo(line).replaceAll('\n', '\r\n')}${prompt()}`);
    });
  };
};
