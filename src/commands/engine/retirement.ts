import { Type } from 'typebox';
import { type Actor, seesAll } from '../../domain/engine/core.ts';
import { isRetiredBy, retire, retirement, retirementLock } from '../../domain/engine/retirement.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { commandsOf, type Tools } from './define.ts';
import type { Streams } from './streams.ts';

/** Retires what has ended before a time. The id is the category of what is retired. */
export const retireEnded = commandsOf(retirement)({
  name: 'retireEnded',
  input: Type.Object({ before: Type.String(), source: Type.String() }),
  on: 'any',
  locks: (_, __, id) => retirementLock(id),
  decide: retire,
});

/** True if a resource that ended then is retired. `endedAt`: epoch milliseconds; undefined: it has not ended. */
export const isRetired = async (
  endedAt: number | undefined,
  category: string,
  state: Tools['state'],
): Promise<boolean> => endedAt !== undefined && isRetiredBy(await state(retirement, category), endedAt);

type Needs = {
  readonly streams: Pick<Streams, 'refresh' | 'kindOf'>;
  readonly tools: Pick<Tools, 'state'>;
  readonly model: Pick<ReadModel, 'guard'>;
};

/**
 * Makes the function that says where a retired document can be seen. Undefined: it is not retired, or the actor may not
 * read it.
 */
export const retiredHint = ({ streams, tools, model }: Needs) => {
  return async ({ of: { category } }: Projection, id: string, actor: Actor): Promise<string | undefined> => {
    const stream = `${category}-${id}`;
    const { projections } = streams.kindOf(stream);
    const at = projections.findIndex(({ retires }) => retires);
    if (at < 0) return undefined;
    const { docs, endedAt } = await streams.refresh(stream);
    if (endedAt === undefined || !(await isRetired(endedAt, category, tools.state))) return undefined;
    const guard = projections[at]?.guard?.(docs[at]);
    const isOpen = guard === undefined || seesAll(actor) || mayReadGuard(actor, model)(guard);
    const ended = new Date(endedAt).toISOString();
    return isOpen ? `It ended at ${ended} and was retired since: ?asOf=${ended} shows it` : undefined;
  };
};
