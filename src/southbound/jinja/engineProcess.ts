import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { processorMs } from './processorTime.ts';
import type { Outcome, Work } from './protocol.ts';
import { hold, startEngine } from './startEngine.ts';

export type EngineLimits = {
  /** Heap. */
  readonly megabytes: number;
  /** Processor time that one work may take. */
  readonly processorMs: number;
  /** Time that one work may take in any case: the machine may have little of it to give. */
  readonly wallMs: number;
};

/**
 * Why there is no outcome. `late`: one of the times is over; `ended`: the process has ended by itself; `dropped`:
 * nobody waits for the outcome any more.
 */
type Cut = 'late' | 'ended' | 'dropped';

/** One process that takes one work at a time. It starts with the first work, and again after one that was cut off. */
export type EngineProcess = {
  /** `used` is told the milliseconds of processor time that the work took; starting does not count. */
  run(work: Work, signal: AbortSignal, used: (ms: number) => void): Promise<Exclude<Outcome, 'ready'> | Cut>;
  /** Whether it need not start first. */
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
      // Where the processor time is not known, the clock's time counts instead.
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
    // If the work cannot be sent any more, the process has ended: `onExit` settles it.
    child.send(work, () => undefined);
  });
