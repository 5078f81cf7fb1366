import { type ChildProcess, spawn } from 'node:child_process';

// Reads "+pid" and "-pid" from whoever runs the tests. When that one is gone, however it went, it kills what is still
// there of these processes, and of those that they have started.
const program = String.raw`
  const { readdirSync, readFileSync } = require('node:fs');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  const watched = new Set();
  let text = '';
  const parents = () => {
    const found = new Map();
    try {
      for (const pid of readdirSync('/proc')) {
        if (!/^\d+$/.test(pid)) continue;
        try { found.set(Number(pid), Number(readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/^.*\) /s, '').split(' ')[1])); } catch {}
      }
    } catch {}
    return found;
  };
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines) watched[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(1)));
  }).on('close', () => {
    const doomed = new Set(watched);
    const found = [...parents()];
    for (let before = -1; before !== doomed.size;) {
      before = doomed.size;
      for (const [pid, parent] of found) if (doomed.has(parent)) doomed.add(pid);
    }
    for (const pid of doomed) try { process.kill(pid, 'SIGKILL'); } catch {}
    process.exit();
  });
`;

/**
 * Sees to it that processes end with this one, also when it is killed. It is itself no reason for this one to go on.
 */
export const startReaper = (): { readonly watch: (child: ChildProcess) => void; readonly pid: number | undefined } => {
  const reaper = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  reaper.unref();
  // Of a reaper that could not be started nobody is told: the tests are as good without.
  reaper.on('error', () => undefined);
  reaper.stdin.on('error', () => undefined);
  (reaper.stdin as unknown as { unref?: () => void }).unref?.();
  return {
    pid: reaper.pid,
    watch: (child) => {
      const { pid } = child;
      if (pid === undefined) return;
      reaper.stdin.write(`+${pid}\n`);
      child.once('exit', () => reaper.stdin.write(`-${pid}\n`));
    },
  };
};
