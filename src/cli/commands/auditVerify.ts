import { readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import { argumentOr, command, option } from '../engine/command.ts';

export const auditVerify = command({
  name: 'audit verify',
  about: 'Say what was done to a log since it was written, and what proves that',
  args: { log: argumentOr('an export, sqlite:<file> or esdb://...; the log of the service if not given', '') },
  options: {
    key: option('<key>', 'the public key to believe: base64, PEM, or a file with it; else those that the log holds'),
  },
  help: `\
It needs no secret, and works on a log that is in use. Each finding names a position, or the positions from and to which it
lies: altered, missing, inserted, reordered, altered or reordered, cut. Its last words are what is covered. AUDIT_ANCHOR
names the file that was told the signatures, if there is one. Exit status 3: something was found (docs/tampering.md).`,
  run: async ({ log, key }) => {
    const { verifyAndShow } = await import('../auditVerify.ts');
    return verifyAndShow({ log, key, config: readConfig(process.env), signal: stopSignal('Stopped') });
  },
});
