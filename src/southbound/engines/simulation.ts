import { hash } from 'node:crypto';
import { checker, findFaults, patternMatcher, schemaMatcher } from '@automation-platform/bounded-schemas';
import { own } from '@automation-platform/json';
import { entriesIn } from '../../domain/engine/layeredMap.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { isInstant } from '../../domain/operations-manager/workflows/dataTasks.ts';
import {
  filledIn,
  type InputsOf,
  inputFaultText,
  ownOperations,
} from '../../domain/operations-manager/workflows/ownOperations.ts';
import { refuse } from '../../domain/operations-manager/workflows/refusals.ts';
import { simulate, type Transform } from '../../domain/operations-manager/workflows/simulate.ts';
import { workflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import { refuseUnfitInputs, type TransformationDocument } from '../../domain/template-builder/transformations.ts';
import type { Evaluated } from '../jsonata/evaluate.ts';
import type { SimulationRun } from '../port.ts';
import { transformed } from './transformation.ts';

const mostMicroseconds = 5_000_000;
const mostBytes = 8 * 1024 * 1024;

const [match, fits] = [patternMatcher(refuse), schemaMatcher(refuse)];

/** Nobody opens these: the result is masked before it leaves the process. */
const seal = (secret: string): Sealed => ({ $sealed: 'simulated', tag: hash('sha256', secret) });

type Inputs = InputsOf<'WorkFlowEngine.transformation'>;
const inputFaults = checker(ownOperations['WorkFlowEngine.transformation'].inputs);

const views = (tasks: ReturnType<typeof simulate>['tasks']) =>
  Object.fromEntries(Object.entries(tasks).map(([id, view]) => [id, { ...view, from: null, to: null }]));

/** The run names a transformation that was not given. */
class Needed extends Error {
  readonly idOrName: string;

  constructor(idOrName: string) {
    super('The run needs a transformation');
    this.idOrName = idOrName;
  }
}

/** Runs a workflow without a job. Memory, and the time of one step, are limited by whoever runs this process. */
export const simulated = ({ workflow, self, now, variables, answers, transformations }: SimulationRun): Evaluated => {
  const startUsage = process.cpuUsage();
  const isOver = (): boolean => {
    const { user, system } = process.cpuUsage(startUsage);
    return user + system > mostMicroseconds;
  };
  const transform: Transform = (members, runId) => {
    const inputs = filledIn(members);
    const [fault] = inputFaults(inputs);
    if (fault) refuse(inputFaultText(fault));
    const { tr_id: idOrName, variableMap: incoming = {}, options = {} } = inputs as Inputs; // they have no fault
    if (!Object.hasOwn(transformations, idOrName)) throw new Needed(idOrName);
    const document = own(transformations, idOrName) as TransformationDocument | null; // a saved one
    if (!document) return refuse(`There is no transformation ${JSON.stringify(idOrName)}`);
    refuseUnfitInputs(document, incoming, options, findFaults);
    const revertToDefaultValue = options.revertToDefaultValue === true;
    const outcome = transformed({ document, incoming, now, runId, revertToDefaultValue });
    return 'json' in outcome ? JSON.parse(outcome.json) : refuse(`The transformation fails: ${outcome.reason}`);
  };
  const work = { graph: workflowGraph(workflow, isInstant), job: self, now, match, fits, seal };
  try {
    const { status, state, events, tasks } = simulate(work, { variables, answers, transform }, isOver);
    const result = {
      status,
      error: state.error ?? null,
      variables: Object.fromEntries(entriesIn(state.variables)),
      tasks: views(tasks),
      events,
    };
    const json = JSON.stringify(maskSecrets(result));
    return json.length > mostBytes ? { reason: `It has more than ${mostBytes} characters` } : { json };
  } catch (error) {
    if (error instanceof Needed) return { json: JSON.stringify({ needs: error.idOrName }) };
    if (error instanceof RequestError || error instanceof RangeError) return { reason: error.message };
    throw error;
  }
};
