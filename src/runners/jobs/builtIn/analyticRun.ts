import { isObject, type Members } from '@automation-platform/json';
import { refuseRun } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import { runAnalyticTemplate } from '../../../commands/mop/runTemplates.ts';
import { analyticTemplate } from '../../../domain/mop/analyticTemplates.ts';
import { analyticTemplates } from '../../../projections/mop/analyticTemplates.ts';
import type { ReadAs } from './readAs.ts';
import { type OperationFor, RunEnded } from './run.ts';

/** The answers of devices: a list of texts, or those in the results of a command template. */
const answersIn = (value: readonly string[] | Members, what: string): readonly string[] => {
  if (Array.isArray(value)) return value as readonly string[]; // the table of operations says so
  const results: unknown = (value as Members).commands_results;
  const answers = Array.isArray(results) ? results.map((one: unknown) => isObject(one) && one.response) : [];
  if (Array.isArray(results) && answers.every((answer) => typeof answer === 'string')) return answers;
  throw new RunEnded(`The input ${what} must be a list of texts, or the results of a command template`);
};

/** Compares answers before and after. */
export const analyticRun =
  ({ read, tools }: { readonly read: ReadAs; readonly tools: Tools }): OperationFor<'MOP.runAnalyticsTemplate'> =>
  async ({ inputs: { template, pre, post }, step }) => {
    const actor = await step();
    const content = await read(analyticTemplates, template, actor);
    await refuseRun({ of: analyticTemplate, id: content._id }, actor, tools);
    return { analytic_result: await runAnalyticTemplate(content, answersIn(pre, 'pre'), answersIn(post, 'post')) };
  };
