import { dueQueue } from '@automation-platform/concurrency';
import { same } from '../../domain/engine/changes.ts';

/** Stands for the components that the platform runs itself. No component has an empty name. */
export const builtInJobs = '';

/** A job, or a task of a job, that waits for a worker, or to be run here. */
export type WaitingJob = {
  readonly id: string;
  /** The name of its component, or `builtInJobs`. A task waits under several words. */
  readonly component: string | readonly string[];
  /** The adapter that the worker must have; undefined or null: none. */
  readonly adapter?: string | null;
  /** Jobs with the same word share a turn: those of one automation. */
  readonly turn: string;
  /** The key that tells who may read it (projections/engine/guards.ts); undefined: everybody. */
  readonly guard: string | undefined;
  /** When it was started, epoch milliseconds. */
  readonly created: number;
};

/** A wish for jobs: of which components, for which adapters, and which guards the account passes. */
export type Wish = {
  readonly components: ReadonlySet<string>;
  /** Undefined: any. */
  readonly adapters?: ReadonlySet<string> | undefined;
  readonly may: (guard: string | undefined) => boolean;
};

type Line = ReturnType<typeof dueQueue>;
type Class = Pick<WaitingJob, 'guard' | 'adapter'>;
/** The jobs of one automation, by guard and adapter. `since` says who has waited longest for a turn. */
type Turn = { readonly since: number; readonly lines: Map<string, { readonly of: Class; readonly line: Line }> };
type Found = { readonly turns: Map<string, Turn>; readonly key: string; readonly turn: Turn; readonly line: Line };

const keyOf = ({ guard, adapter }: Class): string => `${adapter ?? ''}\n${guard ?? ''}`;

/** True if work of this class fits the wish. */
export const isWished = ({ guard, adapter }: Class, { adapters, may }: Omit<Wish, 'components'>): boolean =>
  (adapters === undefined || (adapter != null && adapters.has(adapter))) && may(guard);

/** The words under which a job waits. */
export const wordsOf = ({ component }: WaitingJob): readonly string[] =>
  typeof component === 'string' ? [component] : component;

/** True if the work waits in the same way as before. */
const isSame = (one: WaitingJob | undefined, other: WaitingJob): boolean =>
  one !== undefined &&
  one.created === other.created &&
  one.turn === other.turn &&
  keyOf(one) === keyOf(other) &&
  same(one.component, other.component);

/** The line whose first job is the oldest of those that may be taken. */
const oldestLine = ({ lines }: Turn, wish: Wish): Line | undefined => {
  let oldest: { readonly line: Line; readonly at: number } | undefined;
  for (const { of, line } of lines.values()) {
    const at = line.first()?.at ?? Infinity;
    if (at < (oldest?.at ?? Infinity) && isWished(of, wish)) oldest = { line, at };
  }
  return oldest?.line;
};

/** The first turn, in the order in which they come, that has a job for this wish. */
const firstTurn = (turns: Map<string, Turn>, wish: Wish): Found | undefined => {
  for (const [key, turn] of turns) {
    const line = oldestLine(turn, wish);
    if (line) return { turns, key, turn, line };
  }
  return undefined;
};

/**
 * The jobs that wait. Automations take turns: who has had one goes to the end. In its turn, an automation's
 * oldest job comes first.
 */
export const waitingJobs = () => {
  const waitingById = new Map<string, WaitingJob>();
  const components = new Map<string, Map<string, Turn>>();
  let turnsGiven = 0;

  const goToEnd = (turns: Map<string, Turn>, key: string, lines: Turn['lines']): void => {
    turns.delete(key);
    turns.set(key, { since: ++turnsGiven, lines });
  };

  const removeFrom = (component: string, job: WaitingJob): void => {
    const turns = components.get(component);
    const lines = turns?.get(job.turn)?.lines;
    const line = lines?.get(keyOf(job))?.line;
    if (!turns || !lines || !line) return;
    line.remove(job.id);
    if (line.size() === 0) lines.delete(keyOf(job));
    if (lines.size === 0) turns.delete(job.turn);
    if (turns.size === 0) components.delete(component);
  };

  const remove = (id: string): void => {
    const job = waitingById.get(id);
    if (!job) return;
    waitingById.delete(id);
    for (const component of wordsOf(job)) removeFrom(component, job);
  };

  const addTo = (component: string, job: WaitingJob): void => {
    const turns = components.get(component) ?? new Map<string, Turn>();
    components.set(component, turns);
    if (!turns.has(job.turn)) goToEnd(turns, job.turn, new Map());
    const lines = turns.get(job.turn)?.lines;
    const { line } = lines?.get(keyOf(job)) ?? { line: dueQueue() };
    lines?.set(keyOf(job), { of: job, line });
    line.set(job.id, job.created);
  };

  return {
    add: (job: WaitingJob): void => {
      // All tasks of a job are told anew with each change of it. Its turn does not come later by that.
      if (isSame(waitingById.get(job.id), job)) return;
      remove(job.id);
      waitingById.set(job.id, job);
      for (const component of wordsOf(job)) addTo(component, job);
    },
    remove,
    /** Takes the job whose turn it is; undefined if none waits that may be taken. */
    take: (wish: Wish): WaitingJob | undefined => {
      let next: Found | undefined;
      for (const component of wish.components) {
        const found = firstTurn(components.get(component) ?? new Map(), wish);
        if (found && found.turn.since < (next?.turn.since ?? Infinity)) next = found;
      }
      const id = next?.line.first()?.id;
      const job = id === undefined ? undefined : waitingById.get(id);
      if (!next || !job) return undefined;
      goToEnd(next.turns, next.key, next.turn.lines);
      remove(job.id);
      return job;
    },
    has: (id: string): boolean => waitingById.has(id),
    size: (): number => waitingById.size,
  };
};
