import type { Members } from '@automation-platform/json';
import fc from 'fast-check';
import type { Kind } from './kind.ts';
import { always, documentOf, epoch, json, maybe, name, objectId, person, text, time, word } from './values.ts';

const object = fc.dictionary(fc.constantFrom('site', 'vlan', '10', '2', 'a.b'), json, { maxKeys: 4 });
const nullable = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });

const authored = [
  maybe('created', time),
  maybe('createdBy', nullable(person)),
  maybe('lastUpdated', time),
  maybe('lastUpdatedBy', nullable(person)),
];

const common = (actionId: string) => [
  always('_id', objectId),
  always('name', name),
  maybe('description', text),
  always('enabled', fc.boolean()),
  always('actionType', fc.constant('automations')),
  always('actionId', fc.constant(actionId)),
  maybe(
    'options',
    fc.record(
      {
        targetType: nullable(fc.constantFrom('instance', 'group')),
        targetIdentifier: nullable(text),
        chooseTargetAtRuntime: fc.boolean(),
        actionId: fc.constant('0a1F'),
        other: json,
      },
      { requiredKeys: [] },
    ),
  ),
  maybe('lastExecuted', nullable(epoch)),
  maybe('migrationVersion', fc.integer()),
  ...authored,
];

const filter = nullable(
  fc.constantFrom(
    {},
    { type: 'object', properties: { site: { type: 'string' } }, additionalProperties: false },
    { required: ['10', '2'], properties: { 10: {}, 2: {} }, description: 'numbers' },
  ),
);

const form = [
  always('formData', nullable(object)),
  always('formId', fc.constantFrom(null, 'sites')),
  maybe('formSchemaHash', nullable(fc.oneof(text, fc.stringMatching(/^[0-9a-f]{32}$/)))),
  maybe('legacyWrapper', fc.boolean()),
];

const duration = documentOf(
  always('unit', fc.constantFrom('minute', 'hour', 'day', 'week')),
  always('quantity', fc.integer({ min: 1, max: 90 })),
);
const leaf = documentOf(
  maybe('type', fc.constant('terminating')),
  maybe('action', fc.constantFrom('execute', 'wait')),
  always('duration', duration),
  maybe('count', fc.integer({ min: 1, max: 90 })),
);
const nodes: fc.Arbitrary<unknown> = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    documentOf(
      maybe('type', fc.constant('terminating')),
      maybe('start', time),
      always('components', fc.array(tie('node'), { maxLength: 3 })),
    ),
  ),
})).node;
/** Trees that have an instant: others are refused. */
const tree = fc.oneof(
  documentOf(
    maybe('type', fc.constantFrom('repeating', 'terminating')),
    always('action', fc.constant('execute')),
    always('duration', duration),
  ),
  documentOf(always('action', fc.constant('execute')), always('components', fc.array(nodes, { maxLength: 3 }))),
);

const units: readonly unknown[] = ['second', 'minute', 'hour', 'day', 'week'];
/** Whether a document says at which interval its schedule repeats, or that it does not: others are refused. */
const saysInterval = (document: Members): boolean => {
  const { repeat = null, repeatInterval = null, repeatUnit = null, repeatFrequency = null } = document;
  if (repeat !== null || Number(repeatInterval) > 0) return true;
  if (repeatUnit !== null && !units.includes(repeatUnit)) return false;
  const hasFrequency = Number.isInteger(repeatFrequency);
  if (repeatUnit !== null && hasFrequency) return true;
  return repeatInterval === null && (repeatUnit === null || repeatFrequency === null);
};

const variants = (actionId: string): fc.Arbitrary<Members> =>
  fc.oneof(
    documentOf(
      ...common(actionId),
      always('type', fc.constant('endpoint')),
      always('verb', fc.oneof({ weight: 3, arbitrary: fc.constant('POST') }, fc.constant('GET'), json)),
      always('routeName', name),
      always('schema', filter),
      always('jst', nullable(object)),
    ),
    documentOf(
      ...common(actionId),
      always('type', fc.constant('eventSystem')),
      always('source', word),
      always('topic', fc.oneof(word, fc.constant('a:b'))),
      always('schema', filter),
      always('jst', nullable(object)),
      maybe('legacyWrapper', fc.boolean()),
    ),
    documentOf(...common(actionId), always('type', fc.constant('manual')), ...form),
    documentOf(
      ...common(actionId),
      always('type', fc.constant('schedule')),
      ...form,
      always('firstRunAt', epoch),
      always('processMissedRuns', fc.constantFrom('none', 'last')),
      maybe('repeatInterval', nullable(fc.oneof(fc.integer({ max: 0 }), fc.integer({ min: 1000 })))),
      maybe('nextRunAt', nullable(epoch)),
      maybe('lastIntervalStart', nullable(epoch)),
      maybe('locked', fc.boolean()),
      maybe('waitFlag', fc.boolean()),
      maybe('repeat', nullable(tree)),
      maybe('repeatUnit', fc.oneof(fc.constantFrom('second', 'minute', 'hour', 'day', 'week', null), json)),
      // A number from elsewhere could make an interval that is too long.
      maybe('repeatFrequency', fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constant(null), fc.array(json))),
    ).filter(saysInterval),
  );

export const automations: Kind = {
  name: 'automations',
  needs: [{ method: 'POST', path: '/json-forms/forms', body: '{"name":"sites"}' }],
  documents: objectId.chain((id) =>
    documentOf(
      always('_id', fc.constant(id)),
      always('name', name),
      always('description', text),
      always('componentType', fc.constantFrom(null, 'workflows', 'mop-template', 'other')),
      always('componentName', nullable(word)),
      always(
        'gbac',
        documentOf(
          always('read', fc.constant([])),
          always('write', fc.constantFrom([], ['admins'], [{ provenance: 'x', name: 'admins', description: '' }])),
        ),
      ),
      maybe('triggers', fc.array(variants(id), { maxLength: 4 })),
      ...authored,
    ),
  ),
  importing: (document) => ({
    method: 'PUT',
    path: '/operations-manager/automations',
    body: `{"automations":[${document}]}`,
  }),
  exporting: ({ _id }) => ({
    method: 'GET',
    path: `/operations-manager/automations/${String(_id)}/export?as=imported`,
  }),
  inside: (answer) => answer.slice(answer.indexOf('"data":') + 7, answer.lastIndexOf(',"metadata":')),
};
