import { spawnSync } from 'node:child_process';

/** Why processes cannot be killed by their fsyncs here; '' if they can. */
export const cannotKill =
  spawnSync('strace', ['-qqq', '-o', '/dev/null', 'true']).status === 0
    ? ''
    : ' (needs strace, and the right to use it)';

/**
 * What goes before a program in a shell, so that it is killed at its n-th fsync. Without --seccomp-bpf, which costs less:
 * strace 6.1 counts wrongly with it, and kills nothing.
 */
export const killedAtFsync = (n: number): string =>
  `exec strace -D -f -qqq -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:signal=KILL:when=${n} "$@"`;
