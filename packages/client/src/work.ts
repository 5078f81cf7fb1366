import { objectIn, refusalIn, textOf } from './answers.ts';
import type { Auth } from './auth.ts';
import { pause } from './pause.ts';
import { Refused } from './refused.ts';
import { send } from './request.ts';
import { withinTime } from './withinTime.ts';

/** A job as its worker gets it. */
export type Job = {
  readonly _id: string;
  readonly name: string;
  readonly description: string;
  readonly type: string;
  /** With secrets in clear. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly component: { readonly type: string | null; readonly name: string };
  readonly automation: string | null;
  readonly trigger: string | null;
  readonly event: string | null;
  readonly depth: number;
};

export type Progress = { readonly percent?: number; readonly message?: string };

/** The tools of a worker's function while it works on a job. */
export type AtWork = {
  /** Aborts when the job was canceled or the claim is lost, and when the worker stops. Nothing is reported then. */
  readonly signal: AbortSignal;
  /** The value of the header `X-Claim`, for events that the worker publishes for this job. */
  readonly claim: string;
  /** Says how far it is: 0 to 100 percent, a message of 1,024 characters at most. The next heartbeat tells the platform. */
  readonly progress: (report: Progress) => void;
  /** Resolves at once, or when a job that is paused goes on or the signal aborts. Call it between steps. */
  readonly resumed: () => Promise<void>;
};

type Working = {
  /** The platform, such as `https://platform.example.net`. */
  readonly url: string;
  readonly auth: Auth;
  /** Name of the worker; made up unless given. */
  readonly worker?: string | undefined;
  /** How many jobs or tasks at the same time; 1 unless given. */
  readonly atOnce?: number | undefined;
  /** For how many seconds the platform waits for a sign of life; 300 unless given. */
  readonly lease?: number | undefined;
  /** Stops the worker: work that has not ended is given back. */
  readonly signal?: AbortSignal | undefined;
};

export type Work = Working & {
  /** The names of the components that `run` can run. */
  readonly components: readonly string[];
  readonly tasks?: undefined;
  /** Carries out one job. The result has variables of the job; an exception is its error. */
  readonly run: (job: Job, at: AtWork) => Promise<Readonly<Record<string, unknown>> | undefined | void>;
};

/** A task of a job that runs a workflow, as its worker gets it. `_id` is the key of all that it does outside. */
export type Task = {
  readonly _id: string;
  readonly job: string;
  readonly task: string;
  readonly run: number;
  readonly app: string;
  readonly name: string;
  readonly summary: string;
  /** With secrets in clear. */
  readonly incoming: Readonly<Record<string, unknown>>;
};

type TaskOutcome = {
  /** `success` unless given. */
  readonly result?: 'success' | 'failure' | undefined;
  readonly outgoing?: Readonly<Record<string, unknown>> | undefined;
};

export type TaskWork = Working & {
  readonly components?: undefined;
  /** The tasks that `run` can do: of these applications, or of these names (`Application.name`), for these adapters. */
  readonly tasks: {
    readonly apps?: readonly string[] | undefined;
    readonly names?: readonly string[] | undefined;
    readonly adapters?: readonly string[] | undefined;
  };
  /** Carries out one task. It returns how the task ended, and its outputs; an error that it throws is the task's error. */
  readonly run: (
    work: Pick<Task, 'incoming'> & { readonly task: Task },
    at: AtWork,
  ) => Promise<TaskOutcome | undefined | void>;
};

/** The platform refuses the worker. To try again is of no use. */
export class WorkRefused extends Refused {
  override readonly name = 'WorkRefused';
}

type Claimed = { readonly id: string; readonly item: unknown; readonly claim: number };

/** The report of an end of work: the last word of a path, and a body. */
type Report = readonly [what: string, body: object];

/** The words of one kind of work: whole jobs, or tasks. */
type Kind = {
  readonly path: string;
  readonly wish: object;
  readonly member: 'job' | 'task';
  readonly run: (item: unknown, at: AtWork) => Promise<Report>;
  readonly failed: (error: string) => Report;
};

const kindOf = (options: Work | TaskWork): Kind => {
  if (options.tasks === undefined)
    return {
      path: 'jobs',
      wish: { components: options.components },
      member: 'job',
      run: async (item, at) => ['complete', { variables: (await options.run(item as Job, at)) ?? {} }],
      failed: (error) => ['error', { error }],
    };
  return {
    path: 'tasks',
    wish: options.tasks,
    member: 'task',
    run: async (item, at) => {
      const task = item as Task;
      const { result = 'success', outgoing = {} } = (await options.run({ task, incoming: task.incoming }, at)) ?? {};
      return ['finish', { result, outgoing }];
    },
    failed: (error) => ['finish', { result: 'error', error }],
  };
};
type Answer = { readonly status: number; readonly data: unknown; readonly message: string };

const longestWaitS = 30;
const shortestPauseMs = 100;
const longestPauseMs = 5000;
// A person who cancels or pauses a job does not want to wait longer until its worker hears of it.
const longestBeatMs = 20_000;
const mostMessage = 1024;
// An answer that takes longer than a waiting claim is lost.
const patienceMs = (longestWaitS + 30) * 1000;

/** Statuses below 500 after which the same request may succeed later. */
const passing = new Set([408, 425, 429]);

/** True if the same request may succeed later. */
const isPassing = (status: number): boolean => status === 0 || status >= 500 || passing.has(status);

/** True if the same request will not succeed later either. */
const isRefused = (status: number): boolean => status !== 200 && !isPassing(status);

const sleep = (ms: number, signal: AbortSignal): Promise<void> => pause(ms * (0.5 + Math.random() / 2), signal);

const noAnswer = 'The platform answers what is no answer to this';

/** The work of an answer; undefined if it has another form. */
const claimedIn = (data: unknown, member: Kind['member']): readonly Claimed[] | undefined => {
  if (!Array.isArray(data)) return undefined;
  const found = data.flatMap((one: Readonly<Record<string, unknown>> | null): readonly Claimed[] => {
    const item = one?.[member] as { readonly _id?: unknown } | undefined;
    const claim = one?.claim;
    return typeof item?._id === 'string' && typeof claim === 'number' ? [{ id: item._id, item, claim }] : [];
  });
  return found.length === data.length ? found : undefined;
};

/** Requests to the platform. Status 0: there was no answer. */
const requestsOf = ({ url, auth }: Pick<Working, 'url' | 'auth'>, of: string) => {
  const ask = async (
    path: string,
    body: object,
    more: { readonly key?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Answer> => {
    const post = async (signal: AbortSignal): Promise<Answer> => {
      const headers = { 'Idempotency-Key': more.key };
      const request = { method: 'POST', path: `/operations-manager/${of}/${path}`, headers, body };
      const answer = await send({ url, auth, signal }, request);
      if (answer.status !== 200) return { status: answer.status, data: null, message: await refusalIn(answer) };
      const found = objectIn(await textOf(answer));
      return found ? { status: 200, data: found.data, message: '' } : { status: 0, data: null, message: noAnswer };
    };
    try {
      return await withinTime(patienceMs, more.signal ? [more.signal] : [], post);
    } catch (error) {
      return { status: 0, data: null, message: String(error) };
    }
  };
  return {
    send: ask,
    /** Sends until there is an answer that counts, or the signal aborts. */
    untilAnswered: async (
      path: string,
      body: object,
      key: string | undefined,
      signal: AbortSignal,
    ): Promise<Answer> => {
      for (let wait = shortestPauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
        const answer = await ask(path, body, key === undefined ? { signal } : { key, signal });
        if (!isPassing(answer.status) || signal.aborted) return answer;
        await sleep(wait, signal);
      }
    },
  };
};

type Requests = ReturnType<typeof requestsOf>;

/** Tells the platform that the worker is at work, and the worker what the platform asks. */
const heartbeats = ({ send }: Requests, { id, claim }: Claimed, lease: number, leaving: AbortController) => {
  const ended = new AbortController();
  let progress: Progress | undefined;
  let goOn: (() => void) | undefined;
  let paused: Promise<void> | undefined;

  const resume = (): void => {
    goOn?.();
    paused = undefined;
  };
  // A wait for the end of a pause lasts no longer than the work.
  leaving.signal.addEventListener('abort', resume);
  const lost = (why: string): void => leaving.abort(new Error(why));

  const heed = (answer: unknown): void => {
    if (answer === 'cancel') lost('The job was canceled');
    if (answer !== 'pause') resume();
    else if (!leaving.signal.aborted)
      paused ??= new Promise((resolve) => {
        goOn = resolve;
      });
  };

  const beat = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await sleep(Math.min(longestBeatMs, (lease * 1000) / 3), ended.signal);
      if (ended.signal.aborted) return;
      const { status, data } = await send(`${id}/heartbeat`, progress ? { claim, progress } : { claim }, ended);
      if (status === 200) heed((data as { readonly asked?: unknown } | null | undefined)?.asked);
      else if (isRefused(status)) lost('The claim is lost');
    }
  };
  const beating = beat();

  return {
    progress: (report: Progress): void => {
      const { percent = 0, message = '' } = report;
      if (!(percent >= 0 && percent <= 100)) throw new RangeError(`${percent} percent is not from 0 to 100`);
      if (message.length > mostMessage) throw new RangeError(`The message has more than ${mostMessage} characters`);
      progress = report;
    },
    resumed: async (): Promise<void> => paused,
    stop: async (): Promise<void> => {
      ended.abort();
      resume();
      await beating;
    },
  };
};

/**
 * Works on jobs, or on tasks of jobs that run workflows, until the signal aborts: claims them, sends heartbeats, runs them and reports. Throws `WorkRefused` if
 * the platform refuses (400, 401, 403 and the like), and `TypeError` if the URL is none.
 */
export const work = async (options: Work | TaskWork): Promise<void> => {
  if (!URL.canParse(options.url)) throw new TypeError(`${options.url} is no URL`);
  const kind = kindOf(options);
  const { worker = `worker-${crypto.randomUUID()}`, atOnce = 1, lease = 300 } = options;
  const stop = options.signal ?? new AbortController().signal;
  const requests = requestsOf(options, kind.path);
  const running = new Set<Promise<void>>();

  const carryOut = async (claimed: Claimed): Promise<void> => {
    const { id, item, claim } = claimed;
    const leaving = new AbortController();
    const leave = (): void => leaving.abort(new Error('The worker stops'));
    if (stop.aborted) leave();
    stop.addEventListener('abort', leave);
    const beats = heartbeats(requests, claimed, lease, leaving);
    const { progress, resumed } = beats;
    // Reports are made even if the worker stops, but not for longer than the claim lasts.
    const report = ([what, body]: Report) =>
      withinTime(lease * 1000, [], (signal) =>
        requests.untilAnswered(`${id}/${what}`, { claim, ...body }, undefined, signal),
      );
    try {
      const at = { signal: leaving.signal, claim: `${id}/${claim}`, progress, resumed };
      const outcome = await kind.run(item, at);
      // An outcome that JSON cannot say is an error of the work. In a request it would look like no answer.
      JSON.stringify(outcome);
      const { status, message } = await report(outcome);
      // After 409 another worker has the work, or has ended.
      if (isRefused(status) && status !== 409) throw new Error(`The result is refused: ${message}`);
    } catch (error) {
      if (stop.aborted) await report(['release', {}]);
      else if (!leaving.signal.aborted) await report(kind.failed(messageOf(error)));
    } finally {
      stop.removeEventListener('abort', leave);
      await beats.stop();
    }
  };

  const claimMore = async (): Promise<readonly Claimed[]> => {
    const body = { ...kind.wish, worker, max: Math.min(100, atOnce - running.size), lease, wait: longestWaitS };
    const { status, data, message } = await requests.untilAnswered('claim', body, crypto.randomUUID(), stop);
    if (status === 200) {
      const found = claimedIn(data, kind.member);
      if (found) return found;
      await sleep(longestPauseMs, stop);
      return [];
    }
    // The claim is lost on the way back: what it got is offered again.
    if (stop.aborted || status === 409) return [];
    throw new WorkRefused(message, status);
  };

  try {
    while (!stop.aborted) {
      for (const claimed of await claimMore()) {
        const carrying = carryOut(claimed).finally(() => running.delete(carrying));
        running.add(carrying);
      }
      while (running.size >= atOnce) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)) || 'Failed';
