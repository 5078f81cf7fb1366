import type { Step } from './step.ts';

/** One configuration for each end of a link, as JSON. */
const ends = `[
{%- for end in ends %}
  {%- set config %}{{ end.more }}
interface {{ port }}
 description {{ circuit }} to {{ end.peer }}
{% endset %}
  {{- {"device": end.device, "config": config} | tojson }}{{ "," if not loop.last }}
{%- endfor %}]`;

const edge = (state = 'success') => ({ type: 'standard', state });

const own = (
  operation: readonly [app: string, name: string],
  summary: string,
  incoming: object,
  more: object = {},
) => ({
  app: operation[0],
  name: operation[1],
  summary,
  type: 'automatic',
  location: 'Application',
  variables: { incoming, outgoing: {} },
  ...more,
});

/** A task that applies the configurations of a list, one device after the other. */
const apply = (loop: string, config: string) =>
  own(['ConfigurationManager', 'applyDeviceConfig'], 'Apply', {
    device: `$var.${loop}.current_item#/device`,
    config: `$var.${loop}.current_item#/${config}`,
  });

const onBoth = (template: string, summary: string) =>
  own(['MOP', 'RunCommandTemplate'], summary, {
    template,
    devices: '$var.devices.return_data',
    variables: '$var.job.link',
  });

/** A task that holds if a run of a command template has passed. */
const passed = (task: string, summary: string) => {
  const operand = { operand_1: { task, variable: 'mop_template_results' }, query: 'result' };
  const evaluations = [{ ...operand, operator: '==', operand_2: { task: 'static', value: true } }];
  return own(['WorkFlowEngine', 'evaluation'], summary, {
    evaluation_groups: [{ evaluations }],
  });
};

const tell = (topic: string, payload: string) =>
  own(['OperationsManager', 'publishEvent'], 'Tell', { source: 'network', topic, payload });

const tasks = {
  workflow_start: {},
  workflow_end: {},
  devices: own(['WorkFlowEngine', 'query'], 'Which devices', { obj: '$var.job.link#/ends', query: '[*device]' }),
  texts: own(['TemplateBuilder', 'renderJinja2TemplateWithCast'], 'Render', {
    name: 'Link ends',
    variables: '$var.job.link',
    castDataType: 'object',
  }),
  before: onBoth('Port as it is', 'Remember'),
  hasPort: passed('before', 'Have both the port?'),
  ask: own(
    ['WorkFlowEngine', 'ViewData'],
    'Apply this?',
    { header: 'Apply this?', variables: '$var.texts.renderedTemplate' },
    { type: 'manual', groups: ['network-engineering'], view: '/workflow_engine/task/ViewData' },
  ),
  each: own(['WorkFlowEngine', 'forEach'], 'Both ends', { data_array: '$var.texts.renderedTemplate' }),
  apply: apply('each', 'config'),
  check: onBoth('Port is described', 'Check'),
  good: passed('check', 'Do both show it?'),
  tellDone: tell('linkDescribed', '$var.job.link'),
  restore: own(['WorkFlowEngine', 'forEach'], 'Both ends as they were', {
    data_array: '$var.before.mop_template_results#/commands_results',
  }),
  putBack: apply('restore', 'response'),
  why: own(['WorkFlowEngine', 'merge'], 'Why', {
    data_to_merge: [
      { key: 'circuit', value: { task: 'job', variable: 'link#/circuit' } },
      { key: 'error', value: { task: 'each', variable: 'error' } },
    ],
  }),
  tellRestored: tell('linkRestored', '$var.why.merged_object'),
};

const transitions = {
  workflow_start: { devices: edge() },
  devices: { texts: edge() },
  texts: { before: edge() },
  before: { hasPort: edge() },
  hasPort: { ask: edge() },
  ask: { each: edge(), workflow_end: edge('failure') },
  each: { apply: edge('loop'), check: edge(), restore: edge('error') },
  apply: {},
  check: { good: edge(), restore: edge('error') },
  good: { tellDone: edge(), restore: edge('failure') },
  tellDone: { workflow_end: edge() },
  restore: { putBack: edge('loop'), why: edge() },
  putBack: {},
  why: { tellRestored: edge() },
  tellRestored: { workflow_end: edge() },
  workflow_end: {},
};

const text = { type: 'string', minLength: 1 };
const link = {
  type: 'object',
  required: ['circuit', 'port', 'ends'],
  properties: {
    circuit: text,
    port: text,
    ends: {
      type: 'array',
      minItems: 2,
      maxItems: 2,
      items: {
        type: 'object',
        required: ['device', 'peer'],
        properties: { device: text, peer: text, more: { type: 'string' } },
      },
    },
  },
};

/** A command template that passes if the port's configuration has this text. */
const command = (name: string, description: string, rule: string) => (): Step => {
  const rules = [{ rule, eval: 'contains', severity: 'error' }];
  const commands = [{ command: 'show running-config interface <!port!>', passRule: true, rules }];
  return {
    method: 'POST',
    path: '/mop/createTemplate',
    body: { mop: { name, description, passRule: true, commands } },
  };
};

/** A workflow that changes both ends of a link once a person agrees, and puts them back if one refuses. */
export const linkSteps: readonly (() => Step)[] = [
  () => ({
    method: 'POST',
    path: '/template_builder/templates',
    body: { name: 'Link ends', description: 'A configuration for each end of a link', group: 'Edge', template: ends },
  }),
  command('Port as it is', 'Before a change', 'interface <!port!>'),
  command('Port is described', 'After a change', 'description <!circuit!> to'),
  () => ({
    method: 'POST',
    path: '/operations-manager/workflows',
    keep: ({ data }) => ({ linkWorkflow: data._id }),
    body: {
      name: 'Describe a link',
      description: 'Both ends are described, or none is',
      tasks,
      transitions,
      inputSchema: { type: 'object', required: ['link'], properties: { link } },
    },
  }),
];
