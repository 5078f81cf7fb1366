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

/** What a trigger says, defaults filled in, but for id, times, authors and bookkeeping. */
export type TriggerContent = Variants[keyof Variants];

export type TriggerEvent =
  | Event<'triggerCreated', TriggerContent>
  | Event<'triggerChanged', TriggerPatch>
  /** Brought to what a document says, with its times and authors. */
  | Event<'triggerRestored', TriggerContent & Authored>
  | Event<'triggerDeleted', Record<string, never>>;

export type TriggerState = { readonly exists: boolean; readonly content?: TriggerContent };

const memberNames = new Map(Object.entries(triggerMembers).map(([type, members]) => [type, Object.keys(members)]));

/** The content among other members of the same object. */
const contentIn = (trigger: TriggerContent): TriggerContent => {
  const content: Record<string, unknown> = {};
  for (const name of memberNames.get(trigger.type) ?? []) {
    const value = (trigger as Record<string, unknown>)[name];
    if (value !== undefined) content[name] = value;
  }
  return content as TriggerContent;
};

/**
 * A trigger after changes; null takes `description` or `options` away, elsewhere it is a value. One copy: most of what
 * is replayed are changes.
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

/** The unique names that a trigger bears. */
export const triggerNames = (content: TriggerContent): readonly Name[] => {
  const own = { kind: 'trigger', parent: content.actionId, name: content.name };
  return content.type === 'endpoint' ? [own, { kind: 'triggerRoute', name: content.routeName }] : [own];
};

/** What the world says of a trigger. */
export type TriggerRefs = {
  /** Access lists of the automation that it belongs to now. */
  readonly gbac: Gbac;
  /** The automation that it comes to, as far as the actor may see. */
  readonly target?: { readonly exists: boolean; readonly writable: boolean };
  /** Why `schema` cannot be compiled. */
  readonly schemaFault?: string;
  readonly form?: FormFound;
  /** The form data that the request brings, secrets sealed. */
  readonly formData?: object | null | undefined;
};

const defaults = { migrationVersion: 3, legacyWrapper: true, formSchemaHash: null };

/**
 * The content that a document gives, checked, with the hash of its form where it has none; `path` points to the
 * document.
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
 * Whether a change speaks of the form: then the data is checked and the hash made anew, so that sending the same again
 * is the answer to a changed form.
 */
export const speaksOfForm = (patch: object): boolean =>
  ['formId', 'formData', 'formSchemaHash'].some((member) => member in patch);

/** A schedule with its interval derived; anything else as it is. */
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

/** A new unit or frequency brings its own interval; moving to another automation is a change like any other. */
export const change = (
  { content }: TriggerState,
  patch: TriggerPatch,
  { refs }: Context<TriggerRefs>,
): readonly TriggerEvent[] => {
  const before = content!; // commands on existing triggers only
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

/** Goes with its automation, unless it belongs to another one by now. */
export const removeFrom = (
  { exists, content }: TriggerState,
  { actionId }: { readonly actionId: string },
): readonly TriggerEvent[] => (exists && content?.actionId === actionId ? remove() : []);

/** Unasked: what an import has decided. Always an event, which shows that the import has been carried out here. */
export const restore = (_: TriggerState, document: TriggerContent & Authored): readonly TriggerEvent[] => [
  { topic: 'triggerRestored', data: document },
];

/** Takes a document in, with its times and authors (`accounts`: ids by username). */
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
