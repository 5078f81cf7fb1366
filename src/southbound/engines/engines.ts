import { Busy, fairScheduler } from '@automation-platform/concurrency';
import type { DiffPart } from '@automation-platform/configurations';
import type { Predicted } from '@automation-platform/devices';
import { type Texts, limits as templateLimits } from '@automation-platform/jinja';
import type { Members } from '@automation-platform/json';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Evaluation } from '../../domain/engine/transforming.ts';
import type { Compared, FollowingText, Generated, Renderer, Rendering, Specified, Translated } from '../port.ts';
import { type Assignment, type EngineLimits, type EngineProcess, engineProcess } from './engineProcess.ts';
import type { Outcome } from './protocol.ts';

const mostMs = templateLimits.processorMs;
// The interpreter itself ends a render whose time is over. These limits are for a render that stays within one step,
// and for expressions.
export const usualLimits: EngineLimits = { megabytes: 64, processorMs: 1.1 * mostMs, wallMs: 10 * mostMs };
/** A simulation has 5 s, and checks values by schemas. */
export const simulationLimits: EngineLimits = { megabytes: 512, processorMs: 5500, wallMs: 25_000, makesCode: true };
const mostExpress = 2;
const usualCount = 3;
const inLine = 50;
const inAll = 250;

const unrendered = (line: number, reason: string, template?: string): RequestError =>
  new RequestError(
    'unprocessable',
    `The template does not render: line ${line}${template === undefined ? '' : ` of '${template}'`}: ${reason}`,
    { faults: [{ message: reason, line, path: '/template', ...defined({ template }) }] },
  );

const unevaluated = (
  what: 'expression' | 'transformation' | 'comparison' | 'golden text' | 'simulation' | 'difference',
  reason: string,
): RequestError => new RequestError('unprocessable', `The ${what} fails: ${reason}`);

/** The machine is busy with something else. That is no fault of the work, so it may be tried again. */
const starved = ({ wallMs }: EngineLimits): RequestError =>
  new RequestError('limited', `The machine was too busy to finish it within ${wallMs} ms; try again`, {
    retryAfterSeconds: 5,
  });

/** The function that finds the texts of templates that a render wants. */
const supplier = (find: Rendering['find']): Assignment['supply'] => {
  let remaining: number = templateLimits.size;
  return async (names) => {
    const found: Texts[number][] = [];
    for (const name of names) {
      const text = (await find(name)) ?? null;
      remaining -= text?.length ?? 0;
      if (remaining < 0)
        throw unrendered(1, `The templates that it uses have more than ${templateLimits.size} characters`);
      found.push([name, text]);
    }
    return found;
  };
};

const noTemplates: Assignment['supply'] = () => Promise.reject(new Error('Only a template wants templates'));

/** The outcome of a work, or why an engine was cut off, as an outcome that has no line or template. */
type Settled = Outcome | { readonly cut: string };

/** `resize` is to be called when the number of engines has changed. */
type Engines = Renderer & { readonly resize: () => void };

/**
 * Renders Jinja2, evaluates JSONata, carries out transformation documents and compares configurations in separate
 * processes: at most as many as `count` says, which start when there is work for them. Accounts take fair turns. A work has a second of processor time and 64 MiB; a render has the interpreter's own budgets, too. An
 * engine that passes its limits is killed, and so is an engine when no caller waits for its work any more. When too many
 * works wait, `limited` is thrown.
 */
export const engines = (count: () => number = () => usualCount, limits = usualLimits): Engines => {
  const idle: EngineProcess[] = [];
  const all = new Set<EngineProcess>();
  const express = (): number => Math.min(mostExpress, Math.floor(count() / 2));
  const { inTurn: fairly, changed } = fairScheduler({ places: count, express, inLine, inAll });
  const underWay = new Map<AbortController, Promise<unknown>>();
  const shuttingDown = new RequestError('unavailable', 'The service is shutting down');
  let closed = false;

  const started = (): EngineProcess => {
    const newProcess = engineProcess(limits);
    all.add(newProcess);
    return newProcess;
  };

  /** Ends idle engines that are too many. */
  const endSurplus = async (): Promise<void> => {
    const surplus = all.size > count() ? idle.splice(0, all.size - count()) : [];
    for (const engine of surplus) all.delete(engine);
    await Promise.all(surplus.map((engine) => engine.close()));
  };

  const work = async (assignment: Assignment, signal: AbortSignal, used: (ms: number) => void): Promise<Settled> => {
    const engine = idle.find((one) => one.running()) ?? idle[0] ?? started();
    if (idle.includes(engine)) idle.splice(idle.indexOf(engine), 1);
    try {
      const outcome = await engine.run(assignment, signal, used);
      if (outcome === 'dropped') throw signal.reason;
      if (outcome === 'starved') throw starved(limits);
      if (outcome === 'late') return { cut: `takes longer than ${Math.round(limits.processorMs / 1.1)} ms` };
      if (outcome === 'ended') return { cut: `needs more than ${limits.megabytes} MiB of memory` };
      return outcome;
    } finally {
      idle.push(engine);
      await endSurplus();
    }
  };

  /** A work that ends when its signal says so, or the engines are closed. */
  const begin = async (assignment: Assignment, { account, signal }: Evaluation): Promise<Settled> => {
    signal.throwIfAborted();
    if (closed) throw shuttingDown;
    // AbortSignal.any would leak memory here, because its source lives as long as the process.
    const aborting = new AbortController();
    const abort = (): void => aborting.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const mine = fairly(account, aborting.signal, (used) => work(assignment, aborting.signal, used));
    underWay.set(aborting, mine);
    try {
      return await mine;
    } finally {
      underWay.delete(aborting);
      signal.removeEventListener('abort', abort);
    }
  };

  const beginUnlessBusy = async (assignment: Assignment, who: Evaluation, what: string): Promise<Settled> => {
    try {
      return await begin(assignment, who);
    } catch (error) {
      if (error instanceof Busy)
        throw new RequestError('limited', `Too many ${what} at once; try again`, { retryAfterSeconds: 5 });
      throw error;
    }
  };

  /** The result of a work without templates, as JSON text. */
  const textOf = async (
    job: Assignment['work'],
    evaluation: Evaluation,
    what: Parameters<typeof unevaluated>[0],
  ): Promise<string> => {
    const outcome = await beginUnlessBusy({ work: job, supply: noTemplates }, evaluation, `${what}s`);
    if ('cut' in outcome) throw unevaluated(what, `It ${outcome.cut}`);
    if ('reason' in outcome) throw unevaluated(what, outcome.reason);
    if (!('json' in outcome)) throw new Error('The engine has rendered what is no template');
    return outcome.json;
  };

  const resultOf = async (...about: Parameters<typeof textOf>): Promise<unknown> => JSON.parse(await textOf(...about));

  return {
    render: async (template, variables, rendering) => {
      const outcome = await beginUnlessBusy(
        { work: { template, variables, ...defined({ name: rendering.name }) }, supply: supplier(rendering.find) },
        rendering,
        'templates to render',
      );
      if ('cut' in outcome) throw unrendered(1, `Rendering ${outcome.cut}`);
      if ('line' in outcome) throw unrendered(outcome.line, outcome.reason, outcome.template);
      if (!('text' in outcome)) throw new Error('The engine has evaluated a template');
      return outcome.text;
    },
    evaluate: (expression, input, evaluation) => resultOf({ expression, input }, evaluation, 'expression'),
    transform: async (run, evaluation) => (await resultOf(run, evaluation, 'transformation')) as Members,
    compare: async (comparisons, evaluation) =>
      (await resultOf({ comparisons }, evaluation, 'comparison')) as readonly Compared[],
    simulate: (run, evaluation) => textOf(run, evaluation, 'simulation'),
    specify: async (run, evaluation) => (await resultOf(run, evaluation, 'golden text')) as Specified,
    generate: async (run, evaluation) => (await resultOf(run, evaluation, 'golden text')) as Generated,
    translate: async (run, evaluation) => (await resultOf(run, evaluation, 'golden text')) as Translated,
    diff: async (run, evaluation) => (await resultOf(run, evaluation, 'difference')) as readonly DiffPart[],
    follow: async (run, evaluation) => (await resultOf(run, evaluation, 'difference')) as FollowingText,
    predict: async (run, evaluation) => (await resultOf(run, evaluation, 'difference')) as Predicted,
    linesTo: async (run, evaluation) => (await resultOf(run, evaluation, 'difference')) as readonly string[] | null,
    resize: () => {
      void endSurplus();
      changed();
    },
    close: async () => {
      closed = true;
      const ending = [...underWay];
      for (const [aborting] of ending) aborting.abort(shuttingDown);
      await Promise.allSettled(ending.map(([, one]) => one));
      await Promise.all([...all].map((engine) => engine.close()));
    },
  };
};
