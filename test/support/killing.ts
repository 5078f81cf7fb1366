import { spawnSync } from 'node:child_process';

/** Why processes cannot be killed by their fsyncs here; '' if they can. */
export const cannotKill =
  spawnSync('strace', ['-qqq', '-o', '/dev/null', 'true']).status === 0
    ? ''
    : ' (needs strace, and the right to use it)';

/** What happens at the n-th of some system calls of a thread: an error that the call returns, or a kill. */
type Fault = { readonly calls: string; readonly fault: string; readonly nth: number };

/**
 * Options of strace. Without --seccomp-bpf, which costs less: strace 6.1 counts wrongly with it, and kills nothing.
 */
export const injecting = ({ calls, fault, nth }: Fault): readonly string[] => [
  '-f',
  '-qqq',
  '-o',
  '/dev/null',
  '-e',
  `trace=${calls}`,
  '-e',
  `inject=${calls}:${fault}:when=${nth}`,
];

/** What goes before a program in a shell, so that it is killed at the n-th of some system calls of a thread. */
export const killedAt = (calls: string, n: number): string =>
  `exec strace -D ${injecting({ calls, fault: 'signal=KILL', nth: n }).join(' ')} "$@"`;
