import { isObject, type Members } from '@automation-platform/json';
import { dataTasks, isInstant } from './dataTasks.ts';
import { ownOperations } from './ownOperations.ts';
import { readTask } from './workflows.ts';

/** A task that documents may have, as designers of workflows list it. */
export type CatalogTask = {
  readonly app: string;
  readonly name: string;
  readonly type: 'automatic' | 'operation' | 'manual';
  readonly location: 'Application' | 'Adapter';
  readonly summary: string;
  /** JSON Schemas of inputs and outputs by name; `{}` where any value fits. */
  readonly incoming: Members;
  readonly outgoing: Members;
};

/** The words of a name: `arrayPush` is `Array push`. */
const wordsOf = (name: string): string => {
  const words = name.replace(/([a-z0-9])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

type Typed = Readonly<Record<string, string>>;

/** `any` stands for every type. */
const schemasOf = (types: Typed): Members =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, type === 'any' ? {} : { type }]));

const engine = (name: string, incoming: Typed, outgoing: Typed): CatalogTask => ({
  app: 'WorkFlowEngine',
  name,
  type: 'operation',
  location: 'Application',
  summary: wordsOf(name),
  incoming: schemasOf(incoming),
  outgoing: schemasOf(outgoing),
});

const list = { data_to_merge: 'array' };

/** The tasks by which a workflow finds its way, and those that wait. */
const controls: readonly CatalogTask[] = [
  engine(
    'childJob',
    { workflow: 'string', variables: 'object', data_array: 'array', loopType: 'string', transformation: 'string' },
    { job_details: 'object' },
  ),
  engine('decision', { decisionArray: 'array' }, { return_value: 'string' }),
  engine('deepmerge', list, { merged_object: 'object' }),
  engine('delay', { time: 'number' }, { time_in_milliseconds: 'number' }),
  engine('evaluation', { all_true_flag: 'boolean', evaluation_groups: 'array' }, { return_value: 'boolean' }),
  engine('forEach', { data_array: 'array' }, { current_item: 'any' }),
  engine('makeData', { input: 'string', outputType: 'string', variables: 'object' }, { output: 'any' }),
  engine('merge', list, { merged_object: 'object' }),
  engine('modify', { object_to_update: 'object', query: 'string', new_value: 'any' }, { updated_object: 'object' }),
  engine('newVariable', { name: 'string', value: 'any' }, { value: 'any' }),
  engine('pop', { job_variable: 'string' }, { job_variable_value: 'array', item: 'any' }),
  engine('push', { job_variable: 'string', item_to_push: 'any' }, { job_variable_value: 'array' }),
  engine('query', { query: 'string', obj: 'any', pass_on_null: 'boolean' }, { return_data: 'any' }),
  engine('setObjectKey', { obj: 'object', path: 'array', value: 'any' }, { object: 'object' }),
  engine('shift', { job_variable: 'string' }, { job_variable_value: 'array', item: 'any' }),
  engine('stub', { delay: 'number', response: 'any', type: 'string' }, { response: 'any' }),
  engine('updateJobDescription', { description: 'string' }, { description: 'string' }),
  {
    ...engine('reattempt', { attemptID: 'string', attempts: 'number', minutes: 'number' }, { response: 'number' }),
    app: 'MOP',
  },
];

const anyOf = (names: readonly string[]): Typed => Object.fromEntries(names.map((name) => [name, 'any']));

const data: readonly CatalogTask[] = Object.entries(dataTasks).map(([name, { takes, gives }]) => ({
  ...engine(name, anyOf(takes), { [gives]: 'any' }),
  type: 'automatic',
}));

const operations: readonly CatalogTask[] = Object.entries(ownOperations).map(([id, { inputs, outputs }]) => {
  const [app = '', name = ''] = id.split('.');
  return {
    ...engine(name, {}, anyOf(outputs)),
    app,
    type: 'automatic',
    incoming: inputs.properties as Members,
  };
});

const person = (app: string, name: string, incoming: Typed, outgoing: Typed = {}): CatalogTask => ({
  ...engine(name, incoming, outgoing),
  app,
  type: 'manual',
});

const viewData = {
  header: 'string',
  message: 'string',
  body: 'any',
  variables: 'object',
  btn_success: 'string',
  btn_failure: 'string',
};

const people: readonly CatalogTask[] = [
  person('JsonForms', 'RenderJsonSchema', { jsonSchema: 'object', formData: 'object' }, { export: 'object' }),
  person('JsonForms', 'ShowJsonForm', { form_id: 'string', instance_data: 'object' }, { export: 'object' }),
  person('MOP', 'runTemplatesDiff', { pre: 'any', post: 'any' }),
  person('MOP', 'viewTemplateResults', { mop_template_results: 'any' }),
  person('WorkFlowEngine', 'ViewData', viewData),
];

const keyOf = ({ app, name }: Pick<CatalogTask, 'app' | 'name'>): string => `${app}.${name}`;
const byName = (a: CatalogTask, b: CatalogTask): number => (keyOf(a) < keyOf(b) ? -1 : 1);

/** The tasks that this service knows, by app and name. */
export const knownTasks: readonly CatalogTask[] = [...controls, ...data, ...operations, ...people].sort(byName);

const membersOf = (value: unknown): Members => (isObject(value) ? value : {});
const anyOfMembers = (value: unknown): Members => schemasOf(anyOf(Object.keys(membersOf(value))));

const automaticType = (type: unknown) => (type === 'operation' ? type : 'automatic');

/** The tasks of a workflow that workers or people of other products carry out, once each. */
export const foreignTasks = ({ tasks }: Members): readonly CatalogTask[] => {
  const found = new Map<string, CatalogTask>();
  for (const [id, value] of Object.entries(membersOf(tasks))) {
    const { kind, app, name } = readTask(id, value, isInstant);
    if ((kind !== 'worker' && kind !== 'people') || app === '' || name === '') continue;
    const { location, variables, type } = membersOf(value);
    const { incoming, outgoing } = membersOf(variables);
    found.set(keyOf({ app, name }), {
      ...engine(name, {}, {}),
      app,
      type: kind === 'people' ? 'manual' : automaticType(type),
      location: location === 'Adapter' ? location : 'Application',
      incoming: anyOfMembers(incoming),
      outgoing: anyOfMembers(outgoing),
    });
  }
  return [...found.values()];
};

/** Known tasks with those of documents: the first of a name counts. */
export const withForeign = (foreign: readonly CatalogTask[]): readonly CatalogTask[] => {
  const all = new Map([...knownTasks, ...foreign].reverse().map((task) => [keyOf(task), task]));
  return [...all.values()].sort(byName);
};
