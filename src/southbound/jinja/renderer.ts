import type { Worker } from 'node:worker_threads';
import { Refusal } from '../../domain/refusal.ts';
import { startWorker } from '../../startWorker.ts';
import type { Renderer } from '../port.ts';
import type { Outcome, Work } from './protocol.ts';

const mostMs = 1000;
const mostMegabytes = 64;
const mostWaiting = 100;

const refusal = (line: number, reason: string): Refusal =>
  new Refusal('unprocessable', `The template does not render: line ${line}: ${reason}`, { faults: [{ message: reason, line, path: '/template' }] });

/**
 * Jinja2 in a worker thread that starts with the first render: one after the other, each with a second, 64 MiB and the
 * interpreter's own budgets. A worker that does not keep to them is ended; the next render gets a new one. When too many
 * wait: `limited`.
 */
export const jinjaRenderer = (): Renderer => {
  let worker: Promise<Worker> | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let closed = false;

  const start = (): Promise<Worker> => {
    const started = startWorker('worker', import.meta.url, undefined, { maxOldGenerationSizeMb: mostMegabytes, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 });
    worker = new Promise((resolve, reject) => {
      started.once('message', () => { resolve(started); }).once('error', reject).once('exit', () => { reject(new Error('The template engine ended while it started')); });
    });
    // Whoever waits for the worker hears of it; here it is only forgotten.
    const forget = (): void => { if (worker === mine) worker = undefined; };
    const mine = worker;
    mine.catch(forget);
    started.once('exit', forget).on('error', forget);
    return mine;
  };

  const ended = async (running: Worker): Promise<void> => {
    worker = undefined;
    await running.terminate();
  };

  const work = async (asked: Work): Promise<string> => {
    if (closed) throw new Refusal('unavailable', 'The service is shutting down');
    const running = await (worker ?? start());
    const outcome = await new Promise<Outcome | 'late' | 'broken'>((resolve, reject) => {
      const timer = setTimeout(() => { settle(() => { resolve('late'); }); }, mostMs);
      const onMessage = (outcome: Outcome): void => { settle(() => { resolve(outcome); }); };
      const onError = (error: Error & { code?: string }): void => { settle(() => { if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve('broken'); else reject(error); }); };
      const onExit = (): void => { settle(() => { resolve('broken'); }); };
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        running.off('message', onMessage).off('error', onError).off('exit', onExit);
        running.unref();
        then();
      };
      running.on('message', onMessage).on('error', onError).on('exit', onExit);
      running.ref();
      running.postMessage(asked);
    });
    if (outcome === 'late' || outcome === 'broken') {
      await ended(running);
      if (closed) throw new Refusal('unavailable', 'The service is shutting down');
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
      const mine = turn.then(() => work({ template, variables }));
      turn = mine.catch(() => undefined);
      try {
        return await mine;
      } finally {
        waiting--;
      }
    },
    close: async () => {
      closed = true;
      const running = await worker?.catch(() => undefined);
      await running?.terminate();
      await turn;
    },
  };
};
