import { availableParallelism } from 'node:os';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { fairScheduler } from '../fairScheduler.ts';
import type { Renderer, Rendering } from '../port.ts';
import { Busy } from '../semaphore.ts';
import { limits as templateLimits } from './budget.ts';
import { type Assignment, type EngineProcess, engineProcess } from './engineProcess.ts';
import type { Texts } from './library.ts';

const mostMs = templateLimits.processorMs;
// The interpreter itself ends a render whose time is over. These limits are for a render that stays within one step.
const limits = { megabytes: 64, processorMs: 1.1 * mostMs, wallMs: 10 * mostMs };
const places = Math.min(4, Math.max(2, availableParallelism()));
const express = 2;
const inLine = 50;
const inAll = 250;

const requestError = (line: number, reason: string, template?: string): RequestError =>
  new RequestError(
    'unprocessable',
    `The template does not render: line ${line}${template === undefined ? '' : ` of '${template}'`}: ${reason}`,
    { faults: [{ message: reason, line, path: '/template', ...defined({ template }) }] },
  );

/** The function that finds the texts of templates that a render wants. */
const supplier = (find: Rendering['find']): Assignment['supply'] => {
  let left: number = templateLimits.size;
  return async (names) => {
    const found: Texts[number][] = [];
    for (const name of names) {
      const text = (await find(name)) ?? null;
      left -= text?.length ?? 0;
      if (left < 0)
        throw requestError(1, `The templates that it uses have more than ${templateLimits.size} characters`);
      found.push([name, text]);
    }
    return found;
  };
};

/**
 * Renders Jinja2 in separate processes, which start when there is work for them. Accounts take fair turns. A render has
 * a second of processor time, 64 MiB and the interpreter's own budgets. An engine that passes its limits is killed, and
 * so is an engine when no caller waits for its render any more. When too many renders wait, `limited` is thrown.
 */
export const jinjaRenderer = (): Renderer => {
  const idle: EngineProcess[] = Array.from({ length: places + express }, () => engineProcess(limits));
  const engines = [...idle];
  const fairly = fairScheduler({ places, express, inLine, inAll });
  const underWay = new Map<AbortController, Promise<unknown>>();
  const shuttingDown = new RequestError('unavailable', 'The service is shutting down');
  let closed = false;

  const render = async (assignment: Assignment, signal: AbortSignal, used: (ms: number) => void): Promise<string> => {
    const engine = idle.find((one) => one.running()) ?? idle[0];
    if (!engine) throw new Error('There are more turns than template engines');
    idle.splice(idle.indexOf(engine), 1);
    try {
      const outcome = await engine.run(assignment, signal, used);
      if (outcome === 'dropped') throw signal.reason;
      if (outcome === 'late') throw requestError(1, `Rendering takes longer than ${mostMs} ms`);
      if (outcome === 'ended') throw requestError(1, `Rendering needs more than ${limits.megabytes} MiB of memory`);
      if ('reason' in outcome) throw requestError(outcome.line, outcome.reason, outcome.template);
      return outcome.text;
    } finally {
      idle.unshift(engine);
    }
  };

  /** A render that ends when its signal says so, or the renderer is closed. */
  const begin = async (assignment: Assignment, { account, signal }: Rendering): Promise<string> => {
    signal.throwIfAborted();
    if (closed) throw shuttingDown;
    // AbortSignal.any would leak memory here, because its source lives as long as the process.
    const aborting = new AbortController();
    const abort = (): void => aborting.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const mine = fairly(account, aborting.signal, (used) => render(assignment, aborting.signal, used));
    underWay.set(aborting, mine);
    try {
      return await mine;
    } finally {
      underWay.delete(aborting);
      signal.removeEventListener('abort', abort);
    }
  };

  return {
    render: async (template, variables, rendering) => {
      try {
        return await begin(
          { work: { template, variables, ...defined({ name: rendering.name }) }, supply: supplier(rendering.find) },
          rendering,
        );
      } catch (error) {
        if (error instanceof Busy)
          throw new RequestError('limited', 'Too many templates to render at once; try again', {
            retryAfterSeconds: 5,
          });
        throw error;
      }
    },
    close: async () => {
      closed = true;
      const all = [...underWay];
      for (const [aborting] of all) aborting.abort(shuttingDown);
      await Promise.allSettled(all.map(([, one]) => one));
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
};
