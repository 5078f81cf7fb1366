import { Type } from 'typebox';
import { actionExecution } from '../../domain/lifecycle-manager/actionExecutions.ts';
import { clear, lastAction, record } from '../../domain/lifecycle-manager/lastActions.ts';
import { resourceGroup } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { resourceInstance } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { commandsOf } from '../engine/define.ts';

const command = commandsOf(lastAction);

/** Runs after each event of an execution. Takes over the present state of the execution's stream. */
export const recordLastAction = command({
  name: 'recordLastAction',
  input: Type.Object({ execution: Type.String() }),
  on: 'any',
  decide: record,
  prepare: async ({ id, input: { execution } }, { state }) => {
    const { status, started } = await state(actionExecution, execution);
    if (!started || !status) return undefined;
    const { exists } =
      started.target.type === 'group' ? await state(resourceGroup, id) : await state(resourceInstance, id);
    if (!exists) return undefined;
    const { _id, name, type } = started.action;
    return { _id, executionId: execution, name, type, status, started: started.started };
  },
});

/** Runs when an instance or group is deleted. */
export const clearLastAction = command({ name: 'clearLastAction', on: 'any', decide: clear });
