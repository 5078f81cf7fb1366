import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import { ifItFits } from '../engine/lenientSchemas.ts';
import { name } from '../engine/schemas.ts';
import { repetitionSchema, unit } from './repetition.ts';

const opaque = (description: string) => Type.Object({}, { additionalProperties: true, description });
export const nullable = <S extends Parameters<typeof Type.Optional>[0]>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const milliseconds = (description: string) => Type.Integer({ minimum: 0, maximum: 8.64e15, description });
const description = Type.String({ description: 'Its purpose' });
const options = Type.Object(
  {
    targetType: Type.Optional(nullable(Type.Enum(['instance', 'group']), 'The target of the action')),
    targetIdentifier: Type.Optional(nullable(Type.String(), 'Which instance or group')),
    chooseTargetAtRuntime: Type.Optional(Type.Boolean({ description: 'True: the target is chosen at every run' })),
    actionId: Type.Optional(
      Type.String({ pattern: '^[0-9a-fA-F]{4}$', description: 'Action of a resource model: four hexadecimal digits' }),
    ),
  },
  { additionalProperties: true, title: 'TriggerTarget', description: 'Target of a lifecycle action' },
);

const common = {
  name: name('Name, unique within its automation'),
  description: Type.Optional(description),
  enabled: Type.Boolean({ description: 'True if it fires' }),
  actionType: Type.Literal('automations', { description: 'The kind of the action' }),
  actionId: name('Id of the automation that it runs'),
  options: Type.Optional(options),
  migrationVersion: Type.Optional(Type.Integer({ default: 3, description: 'Version of the form of this document' })),
};
const filter = (of: string) =>
  Type.Union([opaque('JSON Schema, draft-07 or 2020-12, without remote references'), Type.Boolean(), Type.Null()], {
    description: `Filter for ${of}; null lets all pass`,
  });
const jst = Type.Unknown({
  description:
    'Transformation of what comes in: {"type": "jsonata", "expression"}, a transformation document, or the name or id of ' +
    'one; null: none. Anything else is kept as given, and a run is refused',
});
const legacyWrapper = (wrapped: string) =>
  Type.Optional(Type.Boolean({ default: true, description: `Whether ${wrapped}` }));
const form = {
  formData: nullable(opaque('Values'), 'Values filled into the form'),
  formId: nullable(Type.String(), 'Name or id of the form that supplies job inputs'),
  formSchemaHash: Type.Optional(nullable(Type.String(), 'SHA-256 of the canonical schema of the form')),
  legacyWrapper: legacyWrapper('form data is put under formData'),
};

const processMissedRuns = Type.Enum(['none', 'last'], {
  description: 'Of the runs that were missed, none or only the last one is made up for',
});
const times = {
  firstRunAt: milliseconds('First run, epoch milliseconds'),
  repeatInterval: Type.Optional(
    nullable(
      Type.Integer({ minimum: 1 }),
      'Milliseconds between runs, from 1,000 to 5,200 weeks; derived where repeatUnit and repeatFrequency are given',
    ),
  ),
  repeatUnit: Type.Optional(nullable(unit, 'Unit of repeatFrequency')),
  repeatFrequency: Type.Optional(nullable(Type.Integer({ minimum: 1 }), 'How many units lie between runs')),
  repeat: Type.Optional(nullable(repetitionSchema, 'Repetition tree, in place of repeatInterval')),
};

/** When a schedule runs, without a trigger. */
export const scheduleSchema = Type.Object(
  { ...times, processMissedRuns: Type.Optional(processMissedRuns) },
  { additionalProperties: false, title: 'Schedule', description: 'When a schedule trigger runs' },
);

/** The fields of each variant of triggers, without id, times, authors and bookkeeping. */
export const triggerMembers = {
  endpoint: {
    ...common,
    type: Type.Literal('endpoint'),
    verb: Type.Literal('POST', { description: 'Verb of the endpoint' }),
    routeName: name('Name of the endpoint, unique among all'),
    schema: filter('the body of the POST'),
    jst,
  },
  eventSystem: {
    ...common,
    type: Type.Literal('eventSystem'),
    source: name('Source of the events that it waits for'),
    topic: name('Topic of the events that it waits for'),
    schema: filter('the payload of the event'),
    jst,
    legacyWrapper: legacyWrapper('the payload of the event is put under payload'),
  },
  manual: { ...common, type: Type.Literal('manual'), ...form },
  schedule: {
    ...common,
    type: Type.Literal('schedule'),
    ...form,
    ...times,
    processMissedRuns,
    locked: Type.Optional(Type.Boolean({ description: 'Kept as given' })),
    waitFlag: Type.Optional(Type.Boolean({ description: 'Kept as given; deprecated' })),
  },
};

const { endpoint, eventSystem, manual, schedule } = triggerMembers;
const inPatches = {
  description: nullable(description, 'Its purpose; null takes it away'),
  options: nullable(options, 'Target of a lifecycle action; null takes it away'),
};
const { formData, formId } = Type.Partial(Type.Object(form)).properties;
const orNull = Type.Partial(Type.Object(inPatches)).properties;

/** The fields in requests. Clients leave out what a trigger does not have, or send null. */
export const requestMembers = {
  endpoint: { ...endpoint, ...orNull, schema: Type.Optional(endpoint.schema), jst: Type.Optional(jst) },
  eventSystem: { ...eventSystem, ...orNull, schema: Type.Optional(eventSystem.schema), jst: Type.Optional(jst) },
  manual: { ...manual, ...orNull, formData, formId },
  schedule: { ...schedule, ...orNull, formData, formId, processMissedRuns: Type.Optional(processMissedRuns) },
};

/** The fields of each variant. */
type Members<E, V, M, S> = { readonly endpoint: E; readonly eventSystem: V; readonly manual: M; readonly schedule: S };
type Props = TProperties;

export type Variants = { readonly [T in keyof typeof triggerMembers]: Static<TObject<(typeof triggerMembers)[T]>> };

/** The content of a trigger with defaults, without id, times, authors and bookkeeping. */
export type TriggerContent = Variants[keyof Variants];

const bookkeeping = {
  lastExecuted: Type.Optional(
    nullable(Type.Integer(), 'Last run, epoch milliseconds; kept by the service, ignored in requests'),
  ),
};
const runs = {
  nextRunAt: Type.Optional(
    nullable(Type.Integer(), 'Next run, epoch milliseconds; kept by the service, ignored in requests'),
  ),
  lastIntervalStart: Type.Optional(
    nullable(
      Type.Integer(),
      'Start of the last interval, epoch milliseconds; kept by the service, ignored in requests',
    ),
  ),
  // Documents of other installations may use the word in another way.
  fault: Type.Optional({
    ...Type.Object(
      { path: Type.String({ description: 'JSON pointer into the trigger' }), message: Type.String() },
      {
        additionalProperties: false,
        description:
          'Why the schedule never runs: an earlier version has stored it so, or (where the trigger is shown alone) its ' +
          'form refuses every run; kept by the service, ignored in requests',
      },
    ),
    [ifItFits]: true,
  }),
};

/** The schemas of the four variants, by type. */
export const variantsOf = <X extends Props, E extends Props, V extends Props, M extends Props, S extends Props>(
  prefix: string,
  extra: X,
  { endpoint, eventSystem, manual, schedule }: Members<E, V, M, S>,
) => {
  const strict = { additionalProperties: false } as const;
  return {
    endpoint: Type.Object(
      { ...endpoint, ...bookkeeping, ...authored, ...extra },
      { ...strict, title: `${prefix}EndpointTrigger`, description: 'Endpoint trigger' },
    ),
    eventSystem: Type.Object(
      { ...eventSystem, ...bookkeeping, ...authored, ...extra },
      { ...strict, title: `${prefix}EventTrigger`, description: 'Event trigger' },
    ),
    manual: Type.Object(
      { ...manual, ...bookkeeping, ...authored, ...extra },
      { ...strict, title: `${prefix}ManualTrigger`, description: 'Manual trigger' },
    ),
    schedule: Type.Object(
      { ...schedule, ...runs, ...bookkeeping, ...authored, ...extra },
      { ...strict, title: `${prefix}ScheduleTrigger`, description: 'Schedule trigger' },
    ),
  };
};

/** One of the four variants. */
export const anyVariant = <X extends Props, E extends Props, V extends Props, M extends Props, S extends Props>(
  prefix: string,
  extra: X,
  members: Members<E, V, M, S>,
) => {
  const { endpoint, eventSystem, manual, schedule } = variantsOf(prefix, extra, members);
  return Type.Union([endpoint, eventSystem, manual, schedule], {
    title: `${prefix}Trigger`,
    description: 'Trigger, one of four variants by its type',
  });
};

/**
 * A trigger in a create request. Times, authors and bookkeeping are accepted and ignored, so that clients can send a
 * copy.
 */
export const newTriggerSchema = anyVariant('New', {}, requestMembers);
export type NewTrigger = Static<typeof newTriggerSchema>;

/** A trigger in answers. */
export const triggerSchema = anyVariant('', { _id: objectId('Id') }, triggerMembers);
export type TriggerDocument = Static<typeof triggerSchema>;

/** Changes of a trigger: fields of its own variant. `null` removes `description` or `options`. */
export const triggerPatchSchema = Type.Partial(
  Type.Object({
    ...manual,
    ...schedule,
    ...eventSystem,
    ...endpoint,
    type: Type.Enum(['endpoint', 'eventSystem', 'manual', 'schedule'], { description: 'Cannot change' }),
    ...inPatches,
  }),
  { additionalProperties: false, title: 'TriggerPatch', description: 'Changes of a trigger' },
);
export type TriggerPatch = Static<typeof triggerPatchSchema>;
