import { type Static, Type } from 'typebox';
import { objectId } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { executionStatus } from './actionExecutions.ts';
import { actionSchema } from './resourceModels.ts';

const { _id, name, type } = actionSchema.properties;

/** `lastAction` of instances and groups. */
export const lastActionSchema = Type.Object(
  { _id, executionId: objectId('Id of the execution'), name, type, status: executionStatus },
  { title: 'LastAction', description: 'The last action that was run' },
);

/** `started` tells which of two is the last. */
export type LastAction = Static<typeof lastActionSchema> & { readonly started: string };

export type LastActionEvent = Event<'lastActionSet', LastAction> | Event<'lastActionCleared', Record<string, never>>;

/**
 * The last action on an instance or group, whose id is the stream's: it is not in their own streams, so that runs never
 * make editors stale.
 */
export const lastAction = aggregate<{ readonly last?: LastAction }, LastActionEvent>({
  area: 'lifecycle-manager',
  category: 'lastAction',
  initial: {},
  evolve: {
    lastActionSet: (_, last) => ({ last }),
    lastActionCleared: () => ({}),
  },
  exists: ({ last }) => last !== undefined,
});

/** Follows from what happens to an execution; `refs`: what there is to say now, nothing if the target is not there. */
export const record = (
  { last }: { readonly last?: LastAction },
  _: unknown,
  { refs: next }: Context<LastAction | undefined>,
): readonly LastActionEvent[] =>
  !next || same(next, last) || (last && order(next) < order(last)) ? [] : [{ topic: 'lastActionSet', data: next }];

const order = ({ started, executionId }: LastAction): string => `${started} ${executionId}`;

/** Follows from the deletion of the instance or group. */
export const clear = ({ last }: { readonly last?: LastAction }): readonly LastActionEvent[] =>
  last ? [{ topic: 'lastActionCleared', data: {} }] : [];
