import { Type } from 'typebox';
import { type RefusedAfter, refuseRuns, triggerRuns } from '../../domain/operations-manager/triggerRuns.ts';
import { commandsOf } from '../engine/define.ts';

/** Notes that events have fired a trigger which starts nothing. */
export const noteRefusals = commandsOf(triggerRuns)({
  name: 'noteRefusals',
  input: Type.Unsafe<RefusedAfter>({}),
  on: 'any',
  decide: refuseRuns,
});
