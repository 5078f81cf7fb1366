import { type Static, Type } from 'typebox';
import { objectId } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { nothing, text, topicsOf, typed } from '../engine/topics.ts';
import { type ExecutionStatus, executionStatus } from './actionExecutions.ts';
import { actionSchema } from './resourceModels.ts';

const { _id, name, type } = actionSchema.properties;

/** `lastAction` of instances and groups. */
export const lastActionSchema = Type.Object(
  { _id, executionId: objectId('Id of the execution'), name, type, status: executionStatus },
  { title: 'LastAction', description: 'The last action that was run' },
);

/** `started` shows which of two actions is the later one. */
const last = Type.Object({
  _id: text,
  executionId: text,
  name: text,
  type: typed<Static<typeof type>>()(text),
  status: typed<ExecutionStatus>()(text),
  started: text,
});
export type LastAction = SchemaData<typeof last>;

const topics = topicsOf({
  lastActionSet: ['An instance or a group got its last action', last],
  lastActionCleared: ['An instance or a group with a last action was deleted', nothing],
});
export type LastActionEvent = EventOf<typeof topics>;

/**
 * The last action on an instance or group; both have the same id. It has a stream of its own, so that a run never makes
 * the editor of an instance stale.
 */
export const lastAction = aggregate<{ readonly last?: LastAction }, LastActionEvent>({
  area: 'lifecycle-manager',
  category: 'lastAction',
  topics,
  initial: {},
  evolve: {
    lastActionSet: (_, last) => ({ last }),
    lastActionCleared: () => ({}),
  },
  exists: ({ last }) => last !== undefined,
});

/**
 * Runs after each event of an execution. `refs` is the action's present state, or undefined if the target does not
 * exist.
 */
export const record = (
  { last }: { readonly last?: LastAction },
  _: unknown,
  { refs: next }: Context<LastAction | undefined>,
): readonly LastActionEvent[] =>
  !next || same(next, last) || (last && order(next) < order(last)) ? [] : [{ topic: 'lastActionSet', data: next }];

const order = ({ started, executionId }: LastAction): string => `${started} ${executionId}`;

/** Runs when the instance or group is deleted. */
export const clear = ({ last }: { readonly last?: LastAction }): readonly LastActionEvent[] =>
  last ? [{ topic: 'lastActionCleared', data: {} }] : [];
