import { type LastAction, lastAction } from '../../domain/lifecycle-manager/lastActions.ts';
import { projection } from '../engine/define.ts';

/** The last action of each instance or group, by its id. */
export const lastActions = projection<LastAction>()(lastAction, {
  collection: 'lastActions',
  on: {
    lastActionSet: (_, { data }) => data,
    lastActionCleared: () => undefined,
  },
  sorts: { started: ({ started }) => started },
  filters: {},
});
