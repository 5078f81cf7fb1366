/*
 * The meaning of workflows, as simple and as slow as can be: nothing is remembered but what has happened, and every question
 * is answered by looking at everything again. It knows the few tasks of the generated workflows only.
 */

type Json = any; // documents and values are any JSON
type Said = { readonly result: string; readonly outgoing?: Json; readonly error?: Json };

type Place = {
  run: number;
  /** Its state. `held`: by a worker, a person or the engine. `again`: the next run begins whatever leads to it. */
  now: 'never' | 'held' | 'pausing' | 'done' | 'again';
  result: string | undefined;
  outgoing: Json;
  error: Json;
  due: number | undefined;
  retries: number;
  turns: number;
  asked: boolean;
  list: Json;
};

const blank = (run: number): Place => ({
  run,
  now: 'never',
  result: undefined,
  outgoing: {},
  error: undefined,
  due: undefined,
  retries: 0,
  turns: 0,
  asked: false,
  list: undefined,
});

/** A job that runs the document. `happened` tells all runs in order: `task run result`. */
export const slowJob = (document: Json, given: Json) => {
  const ids = Object.keys(document.tasks).sort();
  const edges = Object.entries<Json>(document.transitions).flatMap(([from, to]) =>
    Object.entries<Json>(to).map(([id, { type, state }]) => ({ from, to: id, type, state })),
  );
  const standard = edges.filter(({ type }) => type === 'standard');
  const reached = (from: string): string[] => {
    const found = new Set<string>();
    const walk = (id: string): void => {
      for (const { to } of standard.filter((edge) => edge.from === id && !found.has(edge.to))) {
        found.add(to);
        walk(to);
      }
    };
    walk(from);
    return [...found];
  };
  const bodyOf = (loop: string): string[] => [
    ...new Set(
      standard.filter(({ from, state }) => from === loop && state === 'loop').flatMap(({ to }) => [to, ...reached(to)]),
    ),
  ];
  const loops = ids.filter((id) => document.tasks[id].name === 'forEach');
  const loopAround = (id: string): string | undefined =>
    loops.filter((loop) => bodyOf(loop).includes(id)).sort((a, b) => bodyOf(a).length - bodyOf(b).length)[0];

  let status = 'running';
  let error: Json;
  const variables: Json = { ...given };
  const attempts: Record<string, number> = {};
  const places = new Map<string, Place>(ids.map((id) => [id, blank(0)]));
  const happened: string[] = [];
  const at = (id: string): Place => places.get(id)!;

  const goesTo = (id: string): string[] =>
    standard.filter((edge) => edge.from === id && edge.state === at(id).result).map(({ to }) => to);
  const backTo = (id: string): string | undefined =>
    at(id).now === 'done'
      ? edges.find(({ from, type, state }) => from === id && type === 'revert' && state === at(id).result)?.to
      : undefined;
  const isStuck = (id: string): boolean => at(id).now === 'done' && goesTo(id).length === 0 && !backTo(id);
  const blocks = (id: string): boolean => isStuck(id) && at(id).result === 'error';

  const edgeNow = (edge: Json, seen: Map<string, boolean>): 'taken' | 'dead' | 'open' => {
    const { now, result, turns } = at(edge.from);
    if (isDead(edge.from, seen)) return 'dead';
    if (edge.state === 'loop') {
      if (turns > 0) return now === 'held' ? 'taken' : 'open';
      return now === 'done' && !blocks(edge.from) ? 'dead' : 'open';
    }
    if (now !== 'done' || blocks(edge.from)) return 'open';
    return edge.state === result ? 'taken' : 'dead';
  };
  const isDead = (id: string, seen: Map<string, boolean>): boolean => {
    if (!seen.has(id))
      seen.set(
        id,
        at(id).now === 'never' &&
          id !== 'workflow_start' &&
          standard.filter(({ to }) => to === id).every((edge) => edgeNow(edge, seen) === 'dead'),
      );
    return seen.get(id)!;
  };
  const isReady = (id: string): boolean => {
    if (at(id).now === 'again') return true;
    if (at(id).now !== 'never') return false;
    if (id === 'workflow_start') return true;
    const seen = new Map<string, boolean>();
    const into = standard.filter(({ to }) => to === id).map((edge) => edgeNow(edge, seen));
    return !into.includes('open') && into.includes('taken');
  };
  const isUnderWay = (id: string): boolean => at(id).now === 'held' || at(id).now === 'pausing';
  const rests = (tasks: readonly string[]): boolean =>
    !tasks.some((id) => isUnderWay(id) || isReady(id) || isAsked(id));
  const isAsked = (id: string): boolean => {
    const loop = loopAround(id);
    return at(id).asked && isStuck(id) && at(id).result !== 'success' && (!loop || at(loop).now === 'held');
  };

  const putBack = (tasks: readonly string[]): void => {
    for (const id of tasks) places.set(id, blank(at(id).run));
  };
  const valueOf = (said: Json): Json => {
    const [, scope, name] = /^\$var\.(\w+)\.(\w+)$/.exec(String(said)) ?? [];
    if (scope === undefined) return said;
    if (scope === 'job') return variables[name!] ?? null;
    const { outgoing, result, error: why } = at(scope);
    if (name === 'error') return result === 'error' ? why : null;
    return outgoing[name!] ?? null;
  };

  const close = (id: string, { result, outgoing = {}, error: why }: Said, now: number): undefined => {
    const task = document.tasks[id];
    const place = at(id);
    Object.assign(place, { now: 'done', result, outgoing, error: why, due: undefined, asked: false });
    happened.push(`${id} ${place.run} ${result}`);
    for (const [output, target] of Object.entries<Json>(task.variables?.outgoing ?? {}))
      if (output in outgoing && target) variables[target.replace('$var.job.', '')] = outgoing[output];
    if (result === 'error' && task.variables?.error) variables[task.variables.error.replace('$var.job.', '')] = why;
    const again = task.retrySettings;
    if (again?.state.includes(result) && place.retries < again.limit)
      Object.assign(place, { now: 'pausing', due: now + again.delay, retries: place.retries + 1 });
  };

  /** Begins a run: what is done at once is done, the rest is held. */
  const begin = (id: string, now: number): undefined => {
    const task = document.tasks[id];
    const incoming = Object.fromEntries(
      Object.entries<Json>(task.variables?.incoming ?? {}).map(([name, value]) => [name, valueOf(value)]),
    );
    const { run, retries, now: before } = at(id);
    places.set(id, { ...blank(run + 1), now: 'held', retries: before === 'pausing' ? retries : 0 });
    const place = at(id);
    const limit = task.timeLimit ? now + task.timeLimit.seconds * 1000 : undefined;
    if (!task.name) return close(id, { result: 'success' }, now);
    switch (task.name) {
      case 'newVariable':
        variables[incoming.name] = incoming.value;
        return close(id, { result: 'success', outgoing: { value: incoming.value } }, now);
      case 'push': {
        const list = variables[incoming.job_variable] ?? [];
        if (!Array.isArray(list)) return close(id, { result: 'error', error: 'list' }, now);
        variables[incoming.job_variable] = [...list, incoming.item_to_push];
        return close(
          id,
          { result: 'success', outgoing: { job_variable_value: variables[incoming.job_variable] } },
          now,
        );
      }
      case 'evaluation': {
        const [{ operand_1: one, operand_2: two }] = incoming.evaluation_groups[0].evaluations;
        const value = valueOf(`$var.${one.task}.${one.variable}`);
        const holds = JSON.stringify(value) === JSON.stringify(two.variable);
        return close(id, { result: holds ? 'success' : 'failure', outgoing: { return_value: holds } }, now);
      }
      case 'reattempt': {
        const count = (attempts[incoming.attemptID] ?? 0) + 1;
        if (count <= incoming.attempts && incoming.minutes > 0) {
          place.due = Math.min(now + incoming.minutes * 60_000, limit ?? Infinity);
          return undefined;
        }
        return attempt(id, now);
      }
      case 'delay':
        if (incoming.time === 0) return close(id, { result: 'success', outgoing: { time_in_milliseconds: 0 } }, now);
        place.due = Math.min(now + incoming.time * 1000, limit ?? Infinity);
        return undefined;
      case 'forEach':
        if (!Array.isArray(incoming.data_array)) return close(id, { result: 'error', error: 'list' }, now);
        if (incoming.data_array.length === 0) return close(id, { result: 'success' }, now);
        Object.assign(place, { list: incoming.data_array, due: limit });
        return undefined;
      default:
        place.due = limit;
        return undefined;
    }
  };

  const attempt = (id: string, now: number): undefined => {
    const { attemptID, attempts: most } = document.tasks[id].variables.incoming;
    attempts[attemptID] = (attempts[attemptID] ?? 0) + 1;
    if (attempts[attemptID] > most) close(id, { result: 'error', error: 'attempts' }, now);
    else close(id, { result: 'success', outgoing: { response: attempts[attemptID] } }, now);
  };

  const expire = (id: string, now: number): undefined => {
    const task = document.tasks[id];
    const { incoming } = task.variables;
    const waits = task.name === 'delay' ? incoming.time * 1000 : incoming.minutes * 60_000;
    const isLimit = task.timeLimit && !(task.timeLimit.seconds * 1000 >= waits);
    if (task.name === 'delay' && !isLimit)
      return close(id, { result: 'success', outgoing: { time_in_milliseconds: waits } }, now);
    if (task.name === 'reattempt' && !isLimit) return attempt(id, now);
    if (task.name === 'forEach') putBack(bodyOf(id));
    return close(id, { result: task.timeLimit.result ?? 'error', error: 'limit' }, now);
  };

  const turn = (id: string, now: number): undefined => {
    const place = at(id);
    const blocking = bodyOf(id)
      .sort()
      .find((one) => loopAround(one) === id && blocks(one));
    if (blocking) {
      const { error: why } = at(blocking);
      const problem = { index: place.turns - 1, task: blocking, message: why.message ?? why };
      return close(id, { result: 'error', error: problem }, now);
    }
    if (place.turns >= place.list.length) return close(id, { result: 'success' }, now);
    happened.push(`${id} ${place.run} loop`);
    place.outgoing = { current_item: place.list[place.turns] };
    const target = document.tasks[id].variables.outgoing?.current_item;
    if (target) variables[target.replace('$var.job.', '')] = place.outgoing.current_item;
    place.turns++;
    putBack(bodyOf(id));
    return undefined;
  };

  const isDue = (id: string, now: number): boolean => at(id).due !== undefined && at(id).due! <= now;

  /** Does one thing; false if there is nothing to do. */
  const one = (now: number): boolean => {
    if (status !== 'running') return false;
    const back = ids.find((id) => backTo(id) !== undefined);
    if (back !== undefined) {
      const target = backTo(back)!;
      happened.push(`${back} back to ${target}`);
      putBack([target, ...reached(target)]);
      at(target).now = 'again';
      return true;
    }
    const next = ids.find((id) => {
      if (isUnderWay(id)) return isDue(id, now) || (at(id).now === 'held' && at(id).list && rests(bodyOf(id)));
      return isReady(id) || isAsked(id);
    });
    if (next === undefined) return false;
    if (at(next).now !== 'held') begin(next, now);
    else if (isDue(next, now)) expire(next, now);
    else turn(next, now);
    return true;
  };

  const outside = (): string[] => ids.filter((id) => !loopAround(id));
  const settle = (now: number): undefined => {
    while (one(now));
    if (status !== 'running' || ids.some(isUnderWay)) return;
    const blocking = outside().filter(blocks);
    if (blocking.length > 0) [status, error] = ['error', blocking];
    else if (at('workflow_end').now === 'done') status = 'complete';
    else [status, error] = ['error', undefined];
  };

  return {
    happened,
    variables,
    status: () => status,
    blocking: () => error as string[] | undefined,
    open: () => ids.filter((id) => at(id).now === 'held' && !at(id).list),
    dueTimes: () => ids.flatMap((id) => (isUnderWay(id) && at(id).due !== undefined ? [at(id).due!] : [])),
    runs: () => Object.fromEntries(ids.map((id) => [id, at(id).run])),
    settle,
    answer: (id: string, said: Said, now: number) => {
      close(id, said, now);
      settle(now);
    },
    pause: () => {
      if (status === 'running') status = 'paused';
    },
    resume: (now: number) => {
      if (status === 'paused') status = 'running';
      settle(now);
    },
    /** False if nothing can be retried. */
    retry: (now: number): boolean => {
      if (status !== 'error') return false;
      const asked = error ?? outside().filter((id) => isStuck(id) && at(id).result === 'failure');
      if (asked.length === 0) return false;
      for (const id of asked) Object.assign(at(id), { asked: true });
      [status, error] = ['running', undefined];
      settle(now);
      return true;
    },
    retryOne: (id: string, now: number): boolean => {
      const loop = loopAround(id);
      if (!['error', 'running'].includes(status) || !blocks(id) || (loop && at(loop).now !== 'held')) return false;
      at(id).asked = true;
      [status, error] = ['running', undefined];
      settle(now);
      return true;
    },
    continueFrom: (id: string, now: number): boolean => {
      if (status !== 'error' || loopAround(id) || at(id).run === 0) return false;
      putBack([id, ...reached(id)]);
      at(id).now = 'again';
      [status, error] = ['running', undefined];
      settle(now);
      return true;
    },
  };
};
