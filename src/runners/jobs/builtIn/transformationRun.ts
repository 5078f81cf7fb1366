import type { Tools } from '../../../commands/engine/define.ts';
import { beginningOf } from '../../../commands/operations-manager/jobReading.ts';
import { transformationNamed, transformedBy } from '../../../commands/template-builder/transformations.ts';
import { type OperationFor, RunEnded } from './run.ts';

/** Carries out a transformation. Its clock stands at the beginning of the run, so a run that is done again gives the same. */
export const transformationRun =
  ({ tools }: { readonly tools: Tools }): OperationFor<'WorkFlowEngine.transformation'> =>
  async ({ inputs: { tr_id: idOrName, variableMap: incoming = {}, options = {} }, key, signal, step }) => {
    const actor = await step();
    const document = await transformationNamed(idOrName, tools, actor);
    if (!document) throw new RunEnded(`There is no transformation ${JSON.stringify(idOrName)}`);
    const run = { incoming, options, now: await beginningOf(key, tools), runId: key };
    return transformedBy(document, run, { account: actor.id, signal }, tools);
  };
