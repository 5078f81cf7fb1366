import type { DeviceType } from './type.ts';
import { numberSign } from './words.ts';

export const linux: DeviceType = {
  name: 'linux',
  title: 'Linux and other shells',
  aliases: ['linux-ssh', 'cumulus-linux', 'ubuntu', 'debian', 'centos', 'redhat'],
  prompt: /^(?:\([^)]*\) ?)?\[?([\w.-]+@[\w.-]+)[: ][^$#%]*[$#%]$/,
  rename: /^(?:sudo )?(?:hostname|hostnamectl (?:set-)?hostname) ([\w.-]+)$/,
  setup: [],
  enter: [],
  leave: [],
  save: [],
  undoWords: 'by another command',
  form: 'lines',
  comment: numberSign,
  refusals: [
    /:\s*(?:command )?not found$/i,
    /: (?:no such file or directory|permission denied|operation not permitted)$/i,
  ],
  harmless: [],
  questions: [],
  exitStatus: 'echo $?',
};
