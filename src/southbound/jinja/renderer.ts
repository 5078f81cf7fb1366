import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Refusal } from '../../domain/refusal.ts';
import type { Renderer } from '../port.ts';
import type { Outcome, Work } from './protocol.ts';
import { hold, startEngine } from './startEngine.ts';

const mostMs = 1000;
const mostMegabytes = 64;
const mostWaiting = 100;

const refusal = (line: number, reason: string): Refusal =>
  new Refusal('unprocessable', `The template does not render: line ${line}: ${reason}`, { faults: [{ message: reason, line, path: '/template' }] });

/** Asks a running engine; `late` after a second, `ended` if it ends instead of answering. */
const ask = (engine: ChildProcess, work: Work): Promise<Outcome | 'late' | 'ended'> => new Promise((resolve) => {
  const settle = (outcome: Outcome | 'late' | 'ended'): void => {
    clearTimeout(timer);
    engine.off('message', settle).off('exit', onExit);
    hold(engine, false);
    resolve(outcome);
  };
  const onExit = (): void => { settle('ended'); };
  const timer = setTimeout(() => { settle('late'); }, mostMs);
  hold(engine, true);
  engine.on('message', settle).on('exit', onExit);
  // What cannot be sent any more has an exit as its outcome.
  engine.send(work, () => undefined);
});

/**
 * Jinja2 in a process of its own that starts with the first render: one after the other, each with a second, 64 MiB and
 * the interpreter's own budgets. An engine that does not keep to them is killed; the next render gets a new one. When too
 * many wait: `limited`.
 */
export const jinjaRenderer = (): Renderer => {
  let engine: ChildProcess | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let closed = false;

  const kill = async (): Promise<void> => {
    const killed = engine;
    engine = undefined;
    if (!killed || killed.exitCode !== null || killed.signalCode !== null) return;
    const exit = once(killed, 'exit');
    hold(killed, true);
    killed.kill('SIGKILL');
    await exit;
  };

  const running = async (): Promise<ChildProcess> => {
    if (engine?.connected) return engine;
    const started = startEngine(mostMegabytes);
    engine = started.engine;
    await started.ready;
    return engine;
  };

  const render = async (work: Work): Promise<string> => {
    const shuttingDown = (): void => { if (closed) throw new Refusal('unavailable', 'The service is shutting down'); };
    shuttingDown();
    const outcome = await running().then((engine) => ask(engine, work)).catch((error: unknown) => { shuttingDown(); throw error; });
    shuttingDown();
    if (outcome === 'late' || outcome === 'ended') {
      await kill();
      throw refusal(1, outcome === 'late' ? `Rendering takes longer than ${mostMs} ms` : `Rendering needs more than ${mostMegabytes} MiB of memory`);
    }
    if (outcome === 'ready') throw new Error('The template engine started twice');
    if ('reason' in outcome) throw refusal(outcome.line, outcome.reason);
    return outcome.text;
  };

  return {
    render: async (template, variables) => {
      if (waiting === mostWaiting) throw new Refusal('limited', 'Too many templates to render at once; try again', { retryAfterSeconds: 5 });
      waiting++;
      const mine = turn.then(() => render({ template, variables }));
      turn = mine.catch(() => undefined);
      try {
        return await mine;
      } finally {
        waiting--;
      }
    },
    close: async () => {
      closed = true;
      await kill();
      await turn;
    },
  };
};
