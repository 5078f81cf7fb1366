import { ours, person, worker } from './workflowSamples.ts';

type Json = any; // documents are any JSON

/** Numbers from a tape that fast-check makes and shrinks; 0 once it is at its end. */
export const drawing = (tape: readonly number[]) => {
  let at = 0;
  const draw = (below: number): number => (tape[at++] ?? 0) % below;
  return {
    draw,
    pick: <T>(...items: readonly T[]): T => items[draw(items.length)]!,
    isOver: () => at >= tape.length,
  };
};
export type Drawing = ReturnType<typeof drawing>;

const variable = ({ draw }: Drawing): string => `v${draw(4)}`;

/** A random workflow without faults, of up to `size` tasks: joins, ways back, loops in loops, failures without edges. */
export const randomWorkflow = (size: number, drawing: Drawing): Json => {
  const { draw, pick } = drawing;
  const tasks: Json = { workflow_start: {}, workflow_end: {} };
  const transitions: Json = { workflow_start: {}, workflow_end: {} };
  let left = size;
  const reference = (): string => {
    const others = Object.keys(tasks).filter((id) => !id.startsWith('workflow_'));
    const other = others.length > 0 ? pick(...others) : 'job';
    if (draw(2) === 0 || other === 'job') return `$var.job.${variable(drawing)}`;
    const { name } = tasks[other];
    return `$var.${other}.${name === 'forEach' ? 'current_item' : pick('out', 'value', 'error')}`;
  };
  const value = (): Json =>
    pick<() => Json>(
      () => draw(3),
      () => `text${draw(2)}`,
      reference,
      () => [1, 2],
    )();
  const join = (from: string, to: string, state: string, type = 'standard'): void => {
    transitions[from] = { ...transitions[from], [to]: { type, state } };
  };
  const bounds = (): Json => {
    const more: Json = {};
    if (draw(6) === 0)
      more.retrySettings = {
        autoRetry: true,
        limit: 1 + draw(2),
        delay: draw(2) * 5000,
        state: [pick('error', 'failure')],
      };
    if (draw(8) === 0) more.timeLimit = pick<Json>({ seconds: 30 }, { seconds: 90, result: 'failure' });
    return more;
  };
  const sets = (output: string): Json => ({
    outgoing: draw(2) === 0 ? { [output]: `$var.job.${variable(drawing)}` } : {},
    ...(draw(4) === 0 ? { error: '$var.job.problem' } : {}),
  });

  /** Tasks that lead to one another, each to later ones; of one body, or of the whole. */
  const scope = (most: number, level: number): readonly string[] => {
    const ids: string[] = level === 0 ? ['workflow_start'] : [];
    for (let n = 0; n < most && left > 0; n++) {
      left--;
      const id = `${pick('a', 'b', 'c', 'd', 'e')}${left}`;
      ids.push(id);
      const kind = draw(12);
      if (kind < 4) tasks[id] = worker({ x: value() }, { ...bounds(), variables: sets('out') });
      else if (kind < 6) tasks[id] = { ...person(bounds()), variables: { incoming: {}, ...sets('out') } };
      else if (kind === 6)
        tasks[id] = ours('newVariable', { name: variable(drawing), value: value() }, { variables: sets('value') });
      else if (kind === 7) tasks[id] = ours('push', { job_variable: pick('list', 'v1'), item_to_push: value() });
      else if (kind === 8) {
        const one = { task: 'job', variable: variable(drawing) };
        const evaluations = [{ operand_1: one, operator: '==', operand_2: { task: 'static', variable: draw(3) } }];
        tasks[id] = ours('evaluation', { evaluation_groups: [{ evaluations }] });
      } else if (kind === 9) tasks[id] = ours('delay', { time: draw(3) * 60 }, bounds());
      else if (kind === 10)
        tasks[id] = ours('reattempt', { attemptID: pick('x', 'y'), minutes: draw(2), attempts: 1 + draw(2) });
      else if (level < 3) {
        const list = pick<Json>([], [1, 2], ['a', 'b', 'c'], '$var.job.list', reference());
        tasks[id] = ours('forEach', { data_array: list }, { ...bounds(), variables: sets('current_item') });
        const body = scope(1 + draw(4), level + 1);
        // A task of the body that no other leads to is where the body begins.
        for (const to of body) if (!isLedTo(to) || draw(8) === 0) join(id, to, 'loop');
      } else tasks[id] = worker();
    }
    if (level === 0) ids.push('workflow_end');
    for (const [i, from] of ids.entries())
      for (const state of i === 0 && level === 0 ? ['success'] : ['success', 'failure', 'error'])
        for (let n = draw(state === 'success' ? 3 : 2) + (state === 'success' && level === 0 ? 1 : 0); n > 0; n--) {
          const later = ids.slice(i + 1).filter((to) => !transitions[from]?.[to]);
          if (later.length > 0) join(from, later[Math.min(draw(4), later.length - 1)]!, state);
        }
    for (const from of ids) {
      const { name } = tasks[from];
      if (draw(4) > 0 || !['work', 'ViewData', 'reattempt'].includes(name)) continue;
      // A reattempt that goes back by its error does so for ever.
      const state = name === 'reattempt' ? 'success' : pick('failure', 'error', 'success');
      const before = ids.filter((to) => to !== from && leads(to, from) && !transitions[from]?.[to]);
      const isFree = !Object.values<Json>(transitions[from] ?? {}).some((one) => one.state === state);
      if (before.length > 0 && isFree) join(from, pick(...before), state, 'revert');
    }
    return ids;
  };
  const leads = (from: string, to: string): boolean =>
    Object.entries<Json>(transitions[from] ?? {}).some(
      ([next, { type }]) => type === 'standard' && (next === to || leads(next, to)),
    );
  const isLedTo = (to: string): boolean =>
    Object.values<Json>(transitions).some((next) => next[to]?.type === 'standard');
  scope(size, 0);
  return { name: 'random', tasks, transitions };
};
