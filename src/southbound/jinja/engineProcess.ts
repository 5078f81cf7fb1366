import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { processorMs } from './processorTime.ts';
import type { Outcome, Work } from './protocol.ts';
import { hold, startEngine } from './startEngine.ts';

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
};

/**
 * Why there is no outcome. `late`: a time limit has passed. `ended`: the process has ended by itself. `dropped`: no
 * caller waits for the outcome any more.
 */
type Cut = 'late' | 'ended' | 'dropped';

/**
 * A process that does one work at a time. It starts with the first work, and starts again after a work that was cut
 * off.
 */
export type EngineProcess = {
  /** Renders the work. `used` gets the milliseconds of processor time that the work took, without those of a start. */
  run(work: Work, signal: AbortSignal, used: (ms: number) => void): Promise<Exclude<Outcome, 'ready'> | Cut>;
  /** Whether the process runs already. */
  running(): boolean;
  close(): Promise<void>;
};

const looksEveryMs = 50;

export const engineProcess = (limits: EngineLimits): EngineProcess => {
  let child: ChildProcess | undefined;

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
    const starting = startEngine(limits.megabytes);
    child = starting.engine;
    await starting.ready;
    return child;
  };

  return {
    run: async (work, signal, used) => {
      const ready = await started();
      if (signal.aborted) return 'dropped';
      const outcome = await ask({ child: ready, work, limits, signal, tellUsed: used });
      if (outcome === 'ready') throw new Error('The template engine started twice');
      if (typeof outcome === 'string') await kill();
      return outcome;
    },
    running: () => child?.connected === true,
    close: kill,
  };
};

type Question = {
  readonly child: ChildProcess;
  readonly work: Work;
  readonly limits: EngineLimits;
  readonly signal: AbortSignal;
  readonly tellUsed: (ms: number) => void;
};

const ask = ({ child, work, limits, signal, tellUsed }: Question): Promise<Outcome | Cut> =>
  new Promise((resolve) => {
    const begun = performance.now();
    const usedBefore = processorMs(child.pid);
    const wall = (): number => performance.now() - begun;
    const used = (): number => {
      const now = processorMs(child.pid);
      // Where the processor time is not known, real time counts instead.
      return now === undefined || usedBefore === undefined ? wall() : now - usedBefore;
    };
    const look = (): void => {
      if (used() > limits.processorMs || wall() > limits.wallMs) settle('late');
    };
    const settle = (outcome: Outcome | Cut): void => {
      clearInterval(looking);
      tellUsed(used());
      child.off('message', settle).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      hold(child, false);
      resolve(outcome);
    };
    const onExit = (): void => {
      settle('ended');
    };
    const onAbort = (): void => {
      settle('dropped');
    };
    const looking = setInterval(look, looksEveryMs);
    hold(child, true);
    child.on('message', settle).on('exit', onExit);
    signal.addEventListener('abort', onAbort);
    // If the work cannot be sent, the process has ended, and `onExit` settles the promise.
    child.send(work, () => undefined);
  });
