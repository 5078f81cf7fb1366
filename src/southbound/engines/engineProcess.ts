import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Texts } from '@automation-platform/jinja';
import { bundled, fileOf, isSource } from '../../process/bundled.ts';
import type { Message, Outcome, Work } from './protocol.ts';

const module = 'southbound/engines/engine';

/**
 * Starts the engine as a separate process with a limited heap. `ready` resolves with the processor time that it has used, in
 * milliseconds, when the engine can work. A thread
 * would not do, because a thread without memory can end the whole process. The engine gets neither the environment nor
 * the output of the service. Unless it is said, it cannot turn text into code.
 */
const startEngine = ({
  megabytes,
  makesCode,
}: {
  readonly megabytes: number;
  readonly makesCode?: true;
}): { readonly engine: ChildProcess; readonly ready: Promise<number> } => {
  // `-` is the standard input.
  const engine = fork(isSource ? '-' : fileOf(module), [], {
    execArgv: [`--max-old-space-size=${megabytes}`, ...(makesCode ? [] : ['--disallow-code-generation-from-strings'])],
    // Times without a zone mean the same on every node.
    env: { TZ: 'UTC' },
    stdio: [isSource ? 'pipe' : 'ignore', 'ignore', 'ignore', 'ipc'],
    // This is not JSON, because Node may misread some member names of JSON (soundJson.ts).
    serialization: 'advanced',
  });
  engine.stdin?.on('error', () => undefined).end(bundled(module));
  const ended = once(engine, 'exit').then(([code, signal]) => {
    throw new Error(`The engine ended while it started: ${code ?? signal}`);
  });
  const first = once(engine, 'message').then(([message]) => (message as Message).usedMs);
  return { engine, ready: Promise.race([first, ended]) };
};

/** With `holding`, the engine keeps the process of the service alive. Without it, the process may end. */
const hold = (engine: ChildProcess, holding: boolean): void => {
  for (const handle of [engine, engine.channel]) {
    if (holding) handle?.ref();
    else handle?.unref();
  }
};

/** Linux shows processor time in units of this many milliseconds, on every machine. */
const msPerTick = 10;

/**
 * Milliseconds of processor time that a process has used, in user mode and in the kernel. Undefined where the system
 * does not show them.
 */
const processorMs = (pid: number | undefined): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The process name, in parentheses, may contain anything. After it, utime and stime are fields 12 and 13 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  } catch {
    return undefined;
  }
};

export type EngineLimits = {
  /** The limit of the heap. */
  readonly megabytes: number;
  /** Milliseconds of processor time that one work may take. */
  readonly processorMs: number;
  /**
   * Milliseconds of real time that one work may take. This is longer, because a busy machine may give the work little
   * processor time.
   */
  readonly wallMs: number;
  /** True if the process may turn text into code, as checks by schemas do. */
  readonly makesCode?: true;
};

/**
 * Why there is no outcome. `late`: the work took too much processor time. `starved`: the machine gave it too little in
 * the time that it had. `ended`: the process has ended by itself. `dropped`: no
 * caller waits for the outcome any more.
 */
type Cut = 'late' | 'starved' | 'ended' | 'dropped';

/** A work, and the function that finds the templates that it wants. Expressions want none. */
export type Assignment = { readonly work: Work; readonly supply: (names: readonly string[]) => Promise<Texts> };

/** One process that takes one work at a time. It starts with the first work, and again after one that was cut off. */
export type EngineProcess = {
  /**
   * `used` is told the milliseconds of processor time that the work took; starting does not count. Throws what `supply`
   * throws.
   */
  run(assignment: Assignment, signal: AbortSignal, used: (ms: number) => void): Promise<Outcome | Cut>;
  /** True if it need not start first. */
  running(): boolean;
  close(): Promise<void>;
};

const looksEveryMs = 50;

export const engineProcess = (limits: EngineLimits): EngineProcess => {
  let child: ChildProcess | undefined;
  /** The processor time that the engine had used when it last said something. */
  let usedBefore = 0;

  const kill = async (): Promise<void> => {
    const killed = child;
    child = undefined;
    if (!killed || killed.exitCode !== null || killed.signalCode !== null) return;
    const exit = once(killed, 'exit');
    hold(killed, true);
    killed.kill('SIGKILL');
    await exit;
  };

  const started = async (): Promise<ChildProcess> => {
    if (child?.connected) return child;
    const starting = startEngine(limits);
    child = starting.engine;
    usedBefore = await starting.ready;
    return child;
  };

  return {
    run: async (assignment, signal, used) => {
      const ready = await started();
      if (signal.aborted) return 'dropped';
      const tellUsed = (ms: number): void => {
        usedBefore += ms;
        used(ms);
      };
      const outcome = await ask({ child: ready, assignment, limits, signal, usedBefore, tellUsed });
      if (typeof outcome === 'string') await kill();
      return outcome;
    },
    running: () => child?.connected === true,
    close: kill,
  };
};

type Question = {
  readonly child: ChildProcess;
  readonly assignment: Assignment;
  readonly limits: EngineLimits;
  readonly signal: AbortSignal;
  readonly usedBefore: number;
  readonly tellUsed: (ms: number) => void;
};

const ask = ({
  child,
  assignment: { work, supply },
  limits,
  signal,
  usedBefore,
  tellUsed,
}: Question): Promise<Outcome | Cut> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const wall = (): number => performance.now() - startedAt;
    const used = (): number => {
      const now = processorMs(child.pid);
      // Where the processor time is not known, real time counts instead.
      return now === undefined ? wall() : Math.max(0, now - usedBefore);
    };
    const look = (): void => {
      if (used() > limits.processorMs) settle('late');
      else if (wall() > limits.wallMs) settle('starved');
    };
    let isSettled = false;
    const end = (ms = used()): void => {
      isSettled = true;
      clearInterval(looking);
      tellUsed(ms);
      child.off('message', onMessage).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      hold(child, false);
    };
    const settle = (outcome: Outcome | Cut, ms?: number): void => {
      end(ms);
      resolve(outcome);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
    };
    const onMessage = ({ message, usedMs }: Message): void => {
      if (message === 'ready') fail(new Error('The engine started twice'));
      else if (!('wanted' in message)) settle(message, usedMs - usedBefore);
      else
        supply(message.wanted).then(
          (supplied) => {
            if (!isSettled) child.send({ supplied }, () => undefined);
          },
          (error: unknown) => {
            if (!isSettled) fail(error);
          },
        );
    };
    const onExit = (): void => {
      settle('ended');
    };
    const onAbort = (): void => {
      settle('dropped');
    };
    const looking = setInterval(look, looksEveryMs);
    hold(child, true);
    child.on('message', onMessage).on('exit', onExit);
    signal.addEventListener('abort', onAbort);
    // If the work cannot be sent, the process has ended, and `onExit` settles the promise.
    child.send(work, () => undefined);
  });
