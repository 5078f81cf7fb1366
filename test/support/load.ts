import { setTimeout as pause } from 'node:timers/promises';
import type { ApiNode } from './cluster.ts';
import { endOfTest } from './until.ts';

type Kind = 'groupMapping' | 'automation' | 'job';

/** One thing that a client wanted, however often it had to ask. */
export type Wish = {
  readonly kind: Kind;
  /** Idempotency-Key of all tries. */
  readonly key: string;
  /** Of the mapping or automation; a job has it as its description. */
  readonly name: string;
  /** `open`: given up after an answer that leaves its fate open. */
  outcome: 'stored' | 'refused' | 'open';
};

type Options = {
  readonly nodes: readonly ApiNode[];
  /** Begins all names. */
  readonly round: string;
  readonly clients?: number;
  /** Longest that a client pauses between two wishes. */
  readonly pauseMs?: number;
};

const burstSize = 60;
/** About how long it takes. */
const burstMs = 400;
const path: Readonly<Record<Kind, string>> = {
  groupMapping: '/group-mappings/load/',
  automation: '/operations-manager/automations',
  job: '/operations-manager/jobs/start',
};

/**
 * Clients that change and read on all nodes in turn and try again, with the same key on the next node, while the answer
 * is 503 or the connection broke. Each has mappings of its own, which it changes one after the other; half of the
 * automations' names are wanted by two clients. Now and then one gives up at the first failure.
 */
export const startLoad = ({ nodes, round, clients = 12, pauseMs = 20 }: Options) => {
  const wishes: Wish[] = [];
  /** By mapping: the value that was acknowledged last. */
  const values = new Map<string, string>();
  const wrong: string[] = [];
  /** Why no answer came, and how often. */
  const reasons = new Map<string, number>();
  const stored = new Map(nodes.map(({ name }) => [name, 0]));
  let [failures, replayed] = [0, 0];
  let [storedAt, longestPause] = [performance.now(), 0];
  let stopped = false;
  const end = endOfTest();

  /** Undefined: the node cannot answer now. Whatever else is not an answer is noted. */
  const ask = async (node: ApiNode, expected: readonly number[], ...args: Parameters<ApiNode['ask']>) => {
    const before = node.process();
    const answer = await node.ask(...args);
    if (expected.includes(answer.status)) return answer;
    const broke = answer.status === 0 && (before === undefined || before !== node.process());
    if (answer.status !== 503 && !broke)
      wrong.push(
        `${node.name} answered ${answer.status} to ${args.slice(0, 2).join(' ')} ${JSON.stringify(args[2])}: ${answer.text}`,
      );
    failures++;
    const reason = answer.body?.message ?? `status ${answer.status}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return undefined;
  };

  /** Where it was stored, and the answer; undefined: it was refused or given up. */
  const insist = async (
    wish: Wish,
    first: number,
    patient: boolean,
    ...[method, url, body]: Parameters<ApiNode['ask']>
  ) => {
    wishes.push(wish);
    for (let tried = 0; !end.aborted && wrong.length < 10; tried++) {
      const node = nodes[(first + tried) % nodes.length]!;
      const answer = await ask(node, wish.kind === 'automation' ? [200, 409] : [200], method, url, body, {
        'Idempotency-Key': wish.key,
      });
      if (answer?.status === 409) {
        wish.outcome = 'refused';
        return undefined;
      }
      if (answer) {
        wish.outcome = 'stored';
        if (answer.headers.get('idempotency-replayed') === 'true') replayed++;
        stored.set(node.name, stored.get(node.name)! + 1);
        const now = performance.now();
        longestPause = Math.max(longestPause, now - storedAt);
        storedAt = now;
        return {
          node,
          next: nodes[(first + tried + 1) % nodes.length]!,
          answer,
          position: { 'X-Min-Position': answer.headers.get('x-event-position') ?? '' },
        };
      }
      if (!patient) return undefined;
      await pause(20 + Math.random() * 80);
    }
    wrong.push(`${wish.kind} ${wish.name} was never stored`);
    return undefined;
  };

  const change = async (key: string, name: string, first: number, patient: boolean): Promise<void> => {
    const done = await insist(
      { kind: 'groupMapping', key, name, outcome: 'open' },
      first,
      patient,
      'PATCH',
      path.groupMapping + name,
      { updates: { platformGroups: [key] } },
    );
    if (!done) return;
    values.set(name, key);
    // The node that stored it needs no telling.
    for (const [node, headers] of [
      [done.node, {}],
      [done.next, done.position],
    ] as const) {
      const read = await ask(node, [200, 404], 'GET', path.groupMapping + name, undefined, headers);
      if (read && read.body?.platformGroups?.[0] !== key)
        wrong.push(`${node.name} shows ${name} as ${read.text}, acknowledged was ${key} by ${done.node.name}`);
    }
  };

  const create = async (key: string, name: string, first: number, patient: boolean): Promise<void> => {
    const done = await insist(
      { kind: 'automation', key, name, outcome: 'open' },
      first,
      patient,
      'POST',
      path.automation,
      { name },
    );
    const read =
      done && (await ask(done.next, [200, 404], 'GET', `${path.automation}/${name}`, undefined, done.position));
    if (read && read.body?.data?._id !== done?.answer.body.data._id)
      wrong.push(`${done?.next.name} shows ${name} as ${read.text}`);
  };

  const start = async (key: string, first: number, patient: boolean): Promise<void> => {
    const done = await insist({ kind: 'job', key, name: key, outcome: 'open' }, first, patient, 'POST', path.job, {
      workflow: 'load',
      options: { description: key },
    });
    const read =
      done &&
      (await ask(
        done.next,
        [200, 404],
        'GET',
        `/operations-manager/jobs/${done.answer.body.data._id}`,
        undefined,
        done.position,
      ));
    if (read && read.body?.data?.description !== key) wrong.push(`${done?.next.name} shows job ${key} as ${read.text}`);
  };

  const client = async (client: number): Promise<void> => {
    for (let n = 0; !stopped && !end.aborted; n++) {
      const key = `${round}-${client}-${n}`;
      const patient = Math.random() > 0.15;
      // What is given up may still come, even after the next change: such a mapping is not touched again.
      if (n % 3 === 0) await change(key, patient ? `${round}-${client}-${n % 2}` : key, client + n, patient);
      else if (n % 3 === 1)
        await create(key, n % 2 === 0 ? `${round}-shared-${client >> 1}-${n}` : key, client + n, patient);
      else await start(key, client + n, patient);
      await pause(Math.random() * pauseMs);
    }
  };
  const running = Array.from({ length: clients }, (_, n) => client(n));

  return {
    wishes,
    values,
    wrong,
    stored: (node: ApiNode): number => stored.get(node.name)!,
    /** How often no answer came, and how often what had been stored was asked for again. */
    tally: () => ({ wishes: wishes.length, failures, replayed, reasons }),
    /**
     * Milliseconds between two changes that were acknowledged one after the other, at most since this was last asked.
     */
    longestPause: (): number => {
      const longest = Math.round(longestPause);
      longestPause = 0;
      return longest;
    },
    /** Asks for much on all nodes at the same time; resolves at some moment while that is carried out. */
    burst: (): Promise<void> => {
      running.push(
        ...Array.from({ length: burstSize }, (_, n) => {
          const key = `${round}-burst-${n}`;
          return n % 4 < 2 ? create(key, key, n, true) : start(key, n, true);
        }),
      );
      return pause(Math.random() * burstMs);
    },
    /** Ends once every wish has its outcome. */
    stop: async (): Promise<void> => {
      stopped = true;
      await Promise.all(running);
    },
  };
};

export type Load = ReturnType<typeof startLoad>;
