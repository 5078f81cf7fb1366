import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Texts } from '@automation-platform/jinja';
import { processorMs } from './processorTime.ts';
import type { Message, Outcome, Work } from './protocol.ts';
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
    const starting = startEngine(limits);
    child = starting.engine;
    await starting.ready;
    return child;
  };

  return {
    run: async (assignment, signal, used) => {
      const ready = await started();
      if (signal.aborted) return 'dropped';
      const outcome = await ask({ child: ready, assignment, limits, signal, tellUsed: used });
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
  readonly tellUsed: (ms: number) => void;
};

const ask = ({ child, assignment: { work, supply }, limits, signal, tellUsed }: Question): Promise<Outcome | Cut> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    const usedBefore = processorMs(child.pid);
    const wall = (): number => performance.now() - begun;
    const used = (): number => {
      const now = processorMs(child.pid);
      // Where the processor time is not known, real time counts instead.
      return now === undefined || usedBefore === undefined ? wall() : now - usedBefore;
    };
    const look = (): void => {
      if (used() > limits.processorMs) settle('late');
      else if (wall() > limits.wallMs) settle('starved');
    };
    let settled = false;
    const end = (): void => {
      settled = true;
      clearInterval(looking);
      tellUsed(used());
      child.off('message', onMessage).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      hold(child, false);
    };
    const settle = (outcome: Outcome | Cut): void => {
      end();
      resolve(outcome);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
    };
    const onMessage = (message: Message): void => {
      if (message === 'ready') fail(new Error('The engine started twice'));
      else if (!('wanted' in message)) settle(message);
      else
        supply(message.wanted).then(
          (supplied) => {
            if (!settled) child.send({ supplied }, () => undefined);
          },
          (error: unknown) => {
            if (!settled) fail(error);
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
