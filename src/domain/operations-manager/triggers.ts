import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { type Authored, authorsOf, type ImportAuthors } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type Gbac, type Name } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Imported, importedIn, sameRest, withoutContent } from '../engine/importedDocuments.ts';
import type { Parts } from '../engine/lenientSchemas.ts';
import { RequestError, refuseFaults } from '../engine/requestError.ts';
import { maskSecrets } from '../engine/secretFields.ts';
import { flag, nothing, restored, text, topicsOf, typed } from '../engine/topics.ts';
import { type FormFound, refuseForms } from './formReferences.ts';
import { type ImportedTrigger, intervalUnknown, triggerParts } from './importedTriggers.ts';
import { unitLength } from './repetition.ts';
import { scheduleFault, timing } from './scheduleFaults.ts';
import {
  type NewTrigger,
  type TriggerContent,
  type TriggerPatch,
  triggerMembers,
  type Variants,
} from './triggerMembers.ts';

export type { TriggerContent } from './triggerMembers.ts';

// The members that triggers of every type have; those of its type follow.
const content = Type.Object({ name: text, enabled: flag, actionType: text, actionId: text, type: text });
/** `imported`: the document as it was written. Migrated triggers have none. */
export const restoredTrigger = Type.Object({ ...content.properties, ...restored });
export type RestoredTrigger = TriggerContent & Authored & { readonly imported?: Members };

const topics = topicsOf({
  triggerCreated: ['A trigger was created', typed<TriggerContent>()(content)],
  triggerChanged: ['Members of a trigger changed', typed<TriggerPatch>()(Type.Partial(content))],
  triggerRestored: ['A trigger got the content of an imported document', typed<RestoredTrigger>()(restoredTrigger)],
  triggerDeleted: ['A trigger was deleted', nothing],
});
export type TriggerEvent = EventOf<typeof topics>;

export type TriggerState = {
  readonly exists: boolean;
  readonly content?: TriggerContent;
  readonly imported?: Imported<TriggerContent>;
};

const memberNames = new Map(Object.entries(triggerMembers).map(([type, members]) => [type, Object.keys(members)]));

/** The content, without the other members of the object. */
const contentIn = (trigger: TriggerContent): TriggerContent => {
  const content: Record<string, unknown> = {};
  for (const name of memberNames.get(trigger.type) ?? []) {
    const value = (trigger as Record<string, unknown>)[name];
    if (value !== undefined) content[name] = value;
  }
  return content as TriggerContent;
};

/**
 * A trigger after changes. `null` removes `description` or `options`; in other fields it is a value. Copies the object
 * only once, because most replayed events of triggers are changes.
 */
export const patched = <T extends TriggerContent>(before: T, patch: TriggerPatch): T => {
  const after: { -readonly [M in 'description' | 'options']?: unknown } & object = { ...before, ...patch };
  if (after.description === null) delete after.description;
  if (after.options === null) delete after.options;
  return after as T;
};

export const trigger = aggregate<TriggerState, TriggerEvent>({
  area: 'operations-manager',
  category: 'trigger',
  actsLater: true,
  topics,
  initial: { exists: false },
  evolve: {
    triggerCreated: (_, content) => ({ exists: true, content }),
    triggerChanged: (state, changed) =>
      state.content ? { ...state, content: patched(state.content, changed) } : state,
    triggerRestored: (_, data) => {
      const content = contentIn(data);
      return { exists: true, content, ...importedIn(data, content) };
    },
    triggerDeleted: (state) => ({ ...state, exists: false }),
  },
  names: ({ exists, content }) => (exists && content ? triggerNames(content) : []),
});

/** The unique names of a trigger. */
export const triggerNames = (content: TriggerContent): readonly Name[] => {
  const own = { kind: 'trigger', parent: content.actionId, name: content.name };
  return content.type === 'endpoint' ? [own, { kind: 'triggerRoute', name: content.routeName }] : [own];
};

/** Why parts of a trigger cannot be used. */
export type TriggerFaults = {
  /** Why `schema` cannot be compiled. */
  readonly schemaFault?: string;
  /** Why `jst` cannot be used: its expression does not parse, its document has a fault, or it names what is not there. */
  readonly jstFault?: { readonly code: 'invalid' | 'not_found'; readonly message: string; readonly path: string };
};

/** The data that decisions on a trigger need. */
export type TriggerRefs = TriggerFaults & {
  /** The access lists of the trigger's automation: of the present one, or of the last one if the trigger is deleted. */
  readonly gbac: Gbac;
  /** The automation that the trigger moves to. One that the actor may not see counts as missing. */
  readonly target?: { readonly exists: boolean; readonly writable: boolean };
  readonly form?: FormFound;
  /** The name or id of the form of an imported trigger, as the trigger that is there has it. */
  readonly formId?: string | null;
  /** The form data of the request with sealed secrets. */
  readonly formData?: object | null | undefined;
};

/** The values of members that a request leaves out. */
const defaults = {
  migrationVersion: 3,
  legacyWrapper: true,
  schema: null,
  jst: null,
  formId: null,
  formData: null,
  formSchemaHash: null,
  processMissedRuns: 'none',
};

/**
 * The checked content of a document. The form's hash is added if the document has none. `path` points to the document.
 * A schedule that is stored in `before` is not checked again: an earlier version may have stored one with a fault.
 */
export const checkedContent = (
  trigger: NewTrigger | ImportedTrigger,
  { target, schemaFault, jstFault, form, formData }: Omit<TriggerRefs, 'gbac'>,
  { path = '', before }: { readonly path?: string; readonly before?: TriggerContent | undefined } = {},
): TriggerContent => {
  const content = hashed(
    settleContent(
      contentIn(patched({ ...defaults, ...trigger, ...defined({ formData }) } as TriggerContent, {})),
      path,
    ),
    form,
  );
  if (content.type === 'schedule' && !sameTiming(content, before)) {
    const fault = scheduleFault(content, path);
    refuseFaults('invalid', fault ? [fault] : []);
  }
  if (schemaFault !== undefined)
    throw new RequestError('invalid', `The filter cannot be used: ${schemaFault}`, { path: `${path}/schema` });
  if (jstFault) throw new RequestError(jstFault.code, jstFault.message, { path: `${path}/jst${jstFault.path}` });
  if (target && !target.exists) throw new RequestError('not_found', 'No such automation', { path: `${path}/actionId` });
  if (target && !target.writable)
    throw new RequestError('forbidden', 'Only members of its write groups may change the automation', {
      path: `${path}/actionId`,
    });
  refuseForms([{ formId: 'formId' in content ? content.formId : null, form, path }]);
  return content;
};

/** Published events have no colon in their topics. A trigger of another installation may have one: it never fires. */
const refuseColon = (document: object): void => {
  if ('topic' in document && typeof document.topic === 'string' && document.topic.includes(':'))
    throw new RequestError('invalid', 'A topic holds no colon', { path: '/topic' });
};

/**
 * The checked content of an imported trigger. The hash of its form is that of the form here. Without `form`, the import
 * leaves the form of `before` as it is. `path` points to the document.
 */
export const importedContent = (
  parts: Parts<ImportedTrigger>,
  before: TriggerContent | undefined,
  refs: Omit<TriggerRefs, 'gbac' | 'formData'>,
  path = '',
): TriggerContent => {
  const { known } = parts;
  const stays = !refs.form && before && 'formId' in before ? before.formSchemaHash : undefined;
  const triggerContent = 'formId' in known ? { ...known, formSchemaHash: stays ?? null } : known;
  const content = checkedContent(triggerContent, refs, { path, before });
  const fault = content.type === 'schedule' && sameTiming(content, before) ? undefined : intervalUnknown(parts, path);
  refuseFaults('invalid', fault ? [fault] : []);
  return content;
};

const hashed = (content: TriggerContent, form: FormFound): TriggerContent =>
  !('formId' in content)
    ? content
    : {
        ...content,
        formSchemaHash: content.formId === null ? null : (content.formSchemaHash ?? form?.schemaHash ?? null),
      };

/**
 * True if a patch has form fields. If so, the form data are checked and the hash is computed again. So after a change
 * of the form, a client renews the hash by sending the same data again.
 */
export const speaksOfForm = (patch: object): boolean =>
  ['formId', 'formData', 'formSchemaHash'].some((member) => member in patch);

/** True if both say the same about when a schedule runs. */
const sameTiming = (one: Variants['schedule'], other: TriggerContent | undefined): boolean =>
  other?.type === 'schedule' && timing.every((member) => same(one[member] ?? null, other[member] ?? null));

type Repeated = Pick<Variants['schedule'], 'repeatInterval' | 'repeatUnit' | 'repeatFrequency' | 'repeat'>;

/** A schedule with its computed interval. Other content stays as it is. */
const settleContent = (content: TriggerContent, path: string): TriggerContent =>
  content.type === 'schedule' ? withInterval(content, path) : content;

/** A schedule with its interval, computed from unit and frequency. `path` points to it. */
export const withInterval = <S extends Repeated>(schedule: S, path: string): S & { repeatInterval: number | null } => {
  const repeatInterval = intervalOf(schedule, path);
  if (schedule.repeat && repeatInterval !== null)
    throw new RequestError('invalid', 'Either a repetition tree or an interval', { path: `${path}/repeat` });
  return { ...schedule, repeatInterval };
};

const intervalOf = (
  { repeatUnit: unit = null, repeatFrequency: frequency = null, repeatInterval = null }: Repeated,
  path: string,
): number | null => {
  if (unit === null && frequency === null) return repeatInterval;
  if (unit === null) throw new RequestError('invalid', 'A frequency needs a unit', { path: `${path}/repeatUnit` });
  if (frequency === null)
    throw new RequestError('invalid', 'A unit needs a frequency', { path: `${path}/repeatFrequency` });
  const derived = unitLength[unit] * frequency;
  if (!Number.isSafeInteger(derived))
    throw new RequestError('invalid', 'The interval is too long', { path: `${path}/repeatFrequency` });
  if (repeatInterval !== null && repeatInterval !== derived)
    throw new RequestError('invalid', `${frequency} times ${unit} is ${derived} ms, not ${repeatInterval}`, {
      path: `${path}/repeatInterval`,
    });
  return derived;
};

export const create = (_: TriggerState, input: NewTrigger, { refs }: Context<TriggerRefs>): readonly TriggerEvent[] => {
  refuseColon(input);
  return [
    {
      topic: 'triggerCreated',
      data: checkedContent({ ...input, ...defined({ formSchemaHash: 'formId' in input ? null : undefined }) }, refs),
    },
  ];
};

/** A new unit or frequency gives a new interval. A trigger may move to another automation. */
export const change = (
  { content }: TriggerState,
  given: TriggerPatch,
  { refs }: Context<TriggerRefs>,
): readonly TriggerEvent[] => {
  const before = content!; // only for existing triggers
  const patch = keepingSecrets(given, before);
  if (patch.type !== undefined && patch.type !== before.type)
    throw new RequestError('invalid', 'The type of a trigger cannot change; make a new one', { path: '/type' });
  const foreign = Object.keys(patch).find((key) => !Object.hasOwn(triggerMembers[before.type], key));
  if (foreign !== undefined)
    throw new RequestError('invalid', `A trigger of type ${before.type} has no ${foreign}`, { path: `/${foreign}` });
  refuseColon(patch);
  const derives = ('repeatUnit' in patch || 'repeatFrequency' in patch) && !('repeatInterval' in patch);
  const after = checkedContent(
    patched(before, {
      ...patch,
      ...defined({
        repeatInterval: derives ? null : undefined,
        formSchemaHash: speaksOfForm(patch) ? null : undefined,
      }),
    }),
    refs,
    { before },
  );
  const changes = changesBetween(before, after);
  if (!changes) return [];
  return [
    {
      topic: 'triggerChanged',
      data: {
        ...changes.changed,
        ...Object.fromEntries((changes.removed ?? []).map((member) => [member, null])),
      } as TriggerPatch,
    },
  ];
};

/** The patch without what the service shows of the trigger. Secrets that an import has brought are masked there. */
const keepingSecrets = (patch: TriggerPatch, before: TriggerContent): TriggerPatch =>
  Object.fromEntries(
    Object.entries(patch).filter(
      ([name, value]) =>
        !['options', 'jst'].includes(name) ||
        !same(value, maskSecrets((before as Readonly<Record<string, unknown>>)[name])),
    ),
  );

export const remove = (): readonly TriggerEvent[] => [{ topic: 'triggerDeleted', data: {} }];

/** Part of the deletion of the automation. A trigger that has moved to another automation stays. */
export const removeFrom = (
  { exists, content }: TriggerState,
  { actionId }: { readonly actionId: string },
): readonly TriggerEvent[] => (exists && content?.actionId === actionId ? remove() : []);

/** Part of an import. Always stores an event, even without a change: the event shows that this part was carried out. */
export const restore = (_: TriggerState, document: RestoredTrigger): readonly TriggerEvent[] => [
  { topic: 'triggerRestored', data: document },
];

/**
 * Times and authors of an imported trigger. Event triggers and schedules run by the account that changed them last. So
 * only admins may import one that another account has changed; whoever else imports one has changed it.
 */
export const authorsOfTrigger = (
  document: ImportedTrigger,
  { type }: TriggerContent,
  context: Context<ImportAuthors>,
): Authored => {
  const { actor, refs } = context;
  const authors = authorsOf(document, refs.accounts, context);
  const runsByItself = type === 'eventSystem' || type === 'schedule';
  return runsByItself && !actor.admin ? { ...authors, lastUpdatedBy: actor.id } : authors;
};

/** Imports a document of any installation, with its times and authors (`accounts`: ids by username). */
export const importOne = (
  { exists, content, imported }: TriggerState,
  { trigger: document, overwrite = false }: { readonly trigger: Members; readonly overwrite?: boolean },
  context: Context<TriggerRefs & ImportAuthors>,
): readonly TriggerEvent[] => {
  const parts = triggerParts(document);
  const { formId } = context.refs;
  const here = { ...parts, known: { ...parts.known, ...defined({ formId }) } };
  const newContent = importedContent(here, exists ? content : undefined, context.refs);
  const stored = defined({ imported, content });
  if (exists && same(newContent, content) && sameRest(document, stored, triggerParts, context.refs)) return [];
  if (exists && !overwrite)
    throw new RequestError('conflict', 'A trigger with this id exists with other content', { path: '/_id' });
  return [
    {
      topic: 'triggerRestored',
      data: {
        ...newContent,
        ...authorsOfTrigger(parts.known, newContent, context),
        imported: withoutContent(document, newContent),
      },
    },
  ];
};
