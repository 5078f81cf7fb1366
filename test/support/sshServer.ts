import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './freePort.ts';

/** A real OpenSSH server whose sessions are a small router, for whoever runs the tests; `privateKey` logs in. */
export type SshServer = {
  readonly port: number;
  readonly username: string;
  readonly privateKey: string;
  readonly hostKey: string;
  stop(): Promise<void>;
};

const sshd = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path));

/**
 * Keeps its configuration in a file; answers a few commands; complains of what it does not know; prints forever when
 * told to.
 */
const router = (file: string) => `#!/bin/bash
touch ${file}
name=$(sed -n 's/^hostname //p' ${file} | tail -n 1); name=\${name:-router-1}
mode=
# Where there is no terminal, nobody else shows what was typed.
input() { IFS= read -r "$1" || return 1; [ -t 0 ] || printf '%s\\n' "\${!1}"; }
echo "Welcome to the router #"
while printf %s "$name$mode#"; input line; do
  line=\${line%$'\\r'}
  case "$line" in
    "") ;;
    "terminal length 0") ;;
    "configure terminal") mode='(config)' ;;
    end|exit) [ -z "$mode" ] && exit; mode= ;;
    "show running-config") echo '!'; cat ${file}; echo end ;;
    "show version") echo "Test Router, Version 1.0" ;;
    "show flood") yes "all work and no play makes a dull router, and that without an end" ;;
    "show nothing") sleep 20 ;;
    "show shell") echo $$ ;;
    "reload") kill -9 $PPID ;;
    say\\ *) echo "\${line#say }" ;;
    hostname\\ *) [ -n "$mode" ] && name=\${line#hostname } && echo "$line" >> ${file} ;;
    "banner motd ^C") echo "Enter TEXT message. End with ^C"; echo "$line" >> ${file}; while input text; do echo "$text" >> ${file}; [ "$text" = "^C" ] && break; done ;;
    interface\\ *|\\ *|ntp\\ *|snmp-server\\ *) if [ -n "$mode" ]; then echo "$line" >> ${file}; else echo "% Invalid input detected at '^' marker."; fi ;;
    *) echo "              ^"; echo "% Invalid input detected at '^' marker." ;;
  esac
done
`;

/** `program`: the text of the program that is the shell of all sessions. `file` keeps its configuration. */
const startSshd = async (program: (file: string) => string): Promise<SshServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'sshd-'));
  const at = (name: string) => join(folder, name);
  for (const key of ['host', 'user']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  writeFileSync(at('router'), program(at('running-config')), { mode: 0o755 });
  const root = process.getuid?.() === 0;
  // As root the server insists on the folder that Debian gives it; without, it cannot give terminals everywhere.
  if (root) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  writeFileSync(
    at('config'),
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('user.pub')}`,
      `PidFile ${at('pid')}`,
      `ForceCommand ${at('router')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin yes',
      `PermitTTY ${root ? 'yes' : 'no'}`,
      'PrintMotd no',
      'LogLevel ERROR',
      'MaxStartups 100',
      '',
    ].join('\n'),
  );
  let output = '';
  const server: ChildProcess = spawn(sshd!, ['-D', '-e', '-f', at('config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  server.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  for (;;) {
    const there = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      }).on('error', () => resolve(false));
    });
    if (there) break;
    if (server.exitCode !== null) throw new Error(`sshd did not start:\n${output}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 25);
    });
  }
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-E', 'sha256', '-f', at('host.pub')], {
    encoding: 'utf8',
  }).split(' ')[1]!;
  return {
    port,
    hostKey: fingerprint,
    username: userInfo().username,
    privateKey: readFileSync(at('user'), 'utf8'),
    stop: async () => {
      const exit = once(server, 'exit');
      server.kill('SIGTERM');
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A suite with an SSH server of its own. Skipped without sshd; in CI that fails. */
export const describeSsh = (title: string, suite: (server: () => SshServer) => void, program = router): void => {
  if (!sshd && process.env['CI'] !== 'true') {
    describe(title, () => {
      it('is not tested here: needs sshd (apt-get install openssh-server)');
    });
    return;
  }
  describe(title, () => {
    let server: SshServer | undefined;
    before(async () => {
      server = await startSshd(program);
    });
    after(async () => {
      await server?.stop();
    });
    suite(() => server!);
  });
};
