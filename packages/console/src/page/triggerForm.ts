import { may, read } from './platform.ts';
import type { TriggerType } from './triggerColumns.ts';

const text = (title: string, more: object = {}) => ({ type: 'string', title, ...more });
const json = (title: string, description: string) => ({ type: 'json', title, description });

const ofEvents = {
  schema: json('Filter', 'A JSON Schema of the payload, as JSON. Empty: each payload fits.'),
  jst: json('Transformation', 'Makes the variables of the job of the payload, as JSON. Empty: none.'),
};
const ofForms = (forms: readonly string[]) => ({
  formId: { type: ['string', 'null'], title: 'Form', description: 'Empty: none.', examples: forms },
  formData: json('Data of the form', 'As JSON. The job gets them.'),
});

const units = ['second', 'minute', 'hour', 'day', 'week'];

/** The members of a trigger that can be changed. `forms`: names to choose from. */
const schemaOf = (type: TriggerType, forms: readonly string[]) => {
  const of = {
    manual: { members: ofForms(forms), required: [] },
    eventSystem: {
      members: { source: text('Source of the events'), topic: text('Topic of the events'), ...ofEvents },
      required: ['source', 'topic'],
    },
    schedule: {
      members: {
        firstRunAt: { type: 'integer', format: 'date-time', title: 'First run' },
        repeatFrequency: {
          type: ['integer', 'null'],
          title: 'Again each',
          description: 'Empty: it runs once.',
          minimum: 1,
        },
        repeatUnit: { type: ['string', 'null'], title: 'Unit', enum: units },
        repeat: json(
          'Repetition tree',
          'As JSON, in the place of the two above, such as {"type": "repeating", "action": "execute", "duration": {"unit": "hour", "quantity": 1}}. Empty: none.',
        ),
        processMissedRuns: text('Missed runs', {
          enum: ['none', 'last'],
          enumNames: ['Run none of them', 'Run the last one'],
        }),
        ...ofForms(forms),
      },
      required: ['firstRunAt'],
    },
    endpoint: { members: { routeName: text('Name of the route'), ...ofEvents }, required: ['routeName'] },
  }[type];
  return {
    type: 'object',
    required: ['name', ...of.required],
    properties: {
      name: text('Name'),
      description: text('Description'),
      enabled: { type: 'boolean', title: 'Enabled' },
      ...of.members,
    },
  };
};

/** The same, with the names of the first forms. */
export const loadSchema = async (type: TriggerType) => {
  if (!may('json-forms.getForms')) return schemaOf(type, []);
  const { results } = await read('json-forms.getForms', { query: { limit: 100, sort: 'name' } });
  return schemaOf(
    type,
    results.map(({ name }) => name),
  );
};

/** Members that a new trigger must have besides. */
export const newTrigger = (type: TriggerType, automation: string) => ({
  type,
  actionType: 'automations',
  actionId: automation,
  ...(type === 'endpoint' && { verb: 'POST' }),
});
