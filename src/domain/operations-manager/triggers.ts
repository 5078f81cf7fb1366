import type { Static, TObject } from 'typebox';
import { type Authored, authorsOf } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type Event, type Gbac, type Name } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import { type FormFound, refuseForms } from './formReferences.ts';
import { checkRepetition, unitLength } from './repetition.ts';
import { type NewTrigger, type TriggerDocument, type TriggerPatch, triggerMembers } from './triggerMembers.ts';

type Variants = { readonly [T in keyof typeof triggerMembers]: Static<TObject<(typeof triggerMembers)[T]>> };

/** The content of a trigger with defaults, without id, times, authors and bookkeeping. */
export type TriggerContent = Variants[keyof Variants];

export type TriggerEvent =
  | Event<'triggerCreated', TriggerContent>
  | Event<'triggerChanged', TriggerPatch>
  /** Set to the content of an imported document, with its times and authors. */
  | Event<'triggerRestored', TriggerContent & Authored>
  | Event<'triggerDeleted', Record<string, never>>;

export type TriggerState = { readonly exists: boolean; readonly content?: TriggerContent };

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
  initial: { exists: false },
  evolve: {
    triggerCreated: (_, content) => ({ exists: true, content }),
    triggerChanged: (state, changed) =>
      state.content ? { ...state, content: patched(state.content, changed) } : state,
    triggerRestored: (_, data) => ({ exists: true, content: contentIn(data) }),
    triggerDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists && content ? triggerNames(content) : []),
});

/** The unique names of a trigger. */
export const triggerNames = (content: TriggerContent): readonly Name[] => {
  const own = { kind: 'trigger', parent: content.actionId, name: content.name };
  return content.type === 'endpoint' ? [own, { kind: 'triggerRoute', name: content.routeName }] : [own];
};

/** The data that decisions on a trigger need. */
export type TriggerRefs = {
  /** The access lists of the trigger's present automation. */
  readonly gbac: Gbac;
  /** The automation that the trigger moves to. One that the actor may not see counts as missing. */
  readonly target?: { readonly exists: boolean; readonly writable: boolean };
  /** Why `schema` cannot be compiled. */
  readonly schemaFault?: string;
  readonly form?: FormFound;
  /** The form data of the request with sealed secrets. */
  readonly formData?: object | null | undefined;
};

const defaults = { migrationVersion: 3, legacyWrapper: true, formSchemaHash: null };

/**
 * The checked content of a document. The form's hash is added if the document has none. `path` points to the document.
 */
export const checkedContent = (
  given: NewTrigger,
  { target, schemaFault, form, formData }: Omit<TriggerRefs, 'gbac'>,
  path = '',
): TriggerContent => {
  const content = hashed(
    settled(contentIn({ ...defaults, ...given, ...defined({ formData }) } as TriggerContent), path),
    form,
  );
  if (schemaFault !== undefined)
    throw new RequestError('invalid', `The filter cannot be used: ${schemaFault}`, { path: `${path}/schema` });
  if (content.type === 'eventSystem' && content.topic.includes(':'))
    throw new RequestError('invalid', 'A topic holds no colon', { path: `${path}/topic` });
  if (target && !target.exists) throw new RequestError('not_found', 'No such automation', { path: `${path}/actionId` });
  if (target && !target.writable)
    throw new RequestError('forbidden', 'Only members of its write groups may change the automation', {
      path: `${path}/actionId`,
    });
  refuseForms([{ formId: 'formId' in content ? content.formId : null, form, path }]);
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
 * Whether a patch has form fields. If so, the form data are checked and the hash is computed again. So after a change
 * of the form, a client renews the hash by sending the same data again.
 */
export const speaksOfForm = (patch: object): boolean =>
  ['formId', 'formData', 'formSchemaHash'].some((member) => member in patch);

/** A schedule with its computed interval. Other content stays as it is. */
const settled = (content: TriggerContent, path: string): TriggerContent => {
  if (content.type !== 'schedule') return content;
  const repeatInterval = intervalOf(content, path);
  if (content.repeat && repeatInterval !== null)
    throw new RequestError('invalid', 'Either a repetition tree or an interval', { path: `${path}/repeat` });
  if (content.repeat) checkRepetition(content.repeat, `${path}/repeat`);
  return { ...content, repeatInterval };
};

const intervalOf = (
  { repeatUnit: unit = null, repeatFrequency: frequency = null, repeatInterval: given = null }: Variants['schedule'],
  path: string,
): number | null => {
  if (unit === null && frequency === null) return given;
  if (unit === null) throw new RequestError('invalid', 'A frequency needs a unit', { path: `${path}/repeatUnit` });
  if (frequency === null)
    throw new RequestError('invalid', 'A unit needs a frequency', { path: `${path}/repeatFrequency` });
  const derived = unitLength[unit] * frequency;
  if (!Number.isSafeInteger(derived))
    throw new RequestError('invalid', 'The interval is too long', { path: `${path}/repeatFrequency` });
  if (given !== null && given !== derived)
    throw new RequestError('invalid', `${frequency} times ${unit} is ${derived} ms, not ${given}`, {
      path: `${path}/repeatInterval`,
    });
  return derived;
};

export const create = (_: TriggerState, input: NewTrigger, { refs }: Context<TriggerRefs>): readonly TriggerEvent[] => [
  {
    topic: 'triggerCreated',
    data: checkedContent({ ...input, ...defined({ formSchemaHash: 'formId' in input ? null : undefined }) }, refs),
  },
];

/** A new unit or frequency gives a new interval. A trigger may move to another automation. */
export const change = (
  { content }: TriggerState,
  patch: TriggerPatch,
  { refs }: Context<TriggerRefs>,
): readonly TriggerEvent[] => {
  const before = content!; // only for existing triggers
  if (patch.type !== undefined && patch.type !== before.type)
    throw new RequestError('invalid', 'The type of a trigger cannot change; make a new one', { path: '/type' });
  const foreign = Object.keys(patch).find((key) => !Object.hasOwn(triggerMembers[before.type], key));
  if (foreign !== undefined)
    throw new RequestError('invalid', `A trigger of type ${before.type} has no ${foreign}`, { path: `/${foreign}` });
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

export const remove = (): readonly TriggerEvent[] => [{ topic: 'triggerDeleted', data: {} }];

/** Part of the deletion of the automation. A trigger that has moved to another automation stays. */
export const removeFrom = (
  { exists, content }: TriggerState,
  { actionId }: { readonly actionId: string },
): readonly TriggerEvent[] => (exists && content?.actionId === actionId ? remove() : []);

/** Part of an import. Always stores an event, even without a change: the event shows that this part was carried out. */
export const restore = (_: TriggerState, document: TriggerContent & Authored): readonly TriggerEvent[] => [
  { topic: 'triggerRestored', data: document },
];

/** Imports a document with its times and authors (`accounts`: ids by username). */
export const importOne = (
  { exists, content }: TriggerState,
  { trigger, overwrite = false }: { readonly trigger: TriggerDocument; readonly overwrite?: boolean },
  context: Context<TriggerRefs & { readonly accounts: Readonly<Record<string, string>> }>,
): readonly TriggerEvent[] => {
  const wanted = checkedContent(trigger, context.refs);
  if (exists && same(wanted, content)) return [];
  if (exists && !overwrite)
    throw new RequestError('conflict', 'A trigger with this id exists with other content', { path: '/_id' });
  return [{ topic: 'triggerRestored', data: { ...wanted, ...authorsOf(trigger, context.refs.accounts, context) } }];
};
