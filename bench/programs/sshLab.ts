import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { labFormOf } from '@automation-platform/devices';
import ssh2, { type ServerChannel } from 'ssh2';

// Simulated devices over SSH, a port for each. They are the same for all who call.

export type Lab = { readonly count: number; readonly initial: string };
/** `bytesOfKey`: their host key as it travels, in base64. */
export type LabPlaces = { readonly ports: readonly number[]; readonly bytesOfKey: string };

const form = labFormOf('cisco-ios');

/** The shell of a device. It takes all lines between `configure terminal` and `end` at once. */
const shellOf = (memory: { text: string }) => (channel: ServerChannel) => {
  let taken: string[] | undefined;
  const answerTo = (line: string): string => {
    if (line === 'configure terminal') taken = [];
    else if (line === 'end') {
      memory.text = form.take(memory.text, taken?.join('\n') ?? '').memory;
      taken = undefined;
    } else if (taken) taken.push(line);
    else if (line === 'show running-config') return (form.show?.(memory.text) ?? '').replaceAll('\n', '\r\n');
    return '';
  };
  const prompt = (): string => (taken ? 'core(config)#' : 'core#');
  channel.write(prompt());
  let rest = '';
  channel.on('data', (data: Buffer) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) channel.write(`${line}\r\n${answerTo(line)}${prompt()}`);
  });
};

const serve = async ({ count, initial }: Lab): Promise<LabPlaces> => {
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ed25519');
  const ports: number[] = [];
  for (let n = 0; n < count; n++) {
    const shell = shellOf({ text: initial });
    const server = new ssh2.Server({ hostKeys: [hostKey] }, (connection) => {
      connection
        .on('error', () => undefined)
        .on('authentication', (context) => context.accept())
        .on('session', (accept) => {
          accept()
            .on('pty', (take) => take?.())
            .on('shell', (take) => shell(take().on('error', () => undefined)));
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  const key = ssh2.utils.parseKey(hostKey);
  if (key instanceof Error) throw key;
  return { ports, bytesOfKey: key.getPublicSSH().toString('base64') };
};

process.on('message', (lab: Lab) => {
  serve(lab).then(
    (places) => process.send!(places),
    (error: Error) => process.send!({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
