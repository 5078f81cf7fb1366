import { exactEntries, inOrder, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { authoredByPeople, objectId, type Person } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { exported, type Imported, type Words } from '../engine/importedDocuments.ts';
import { missingSecrets, sealDocument } from '../engine/importedSecrets.ts';
import { ifItFits, lenient, type Parts, partsBy } from '../engine/lenientSchemas.ts';
import type { Fault } from '../engine/requestError.ts';
import { type Seal, sealBy, sealImported } from '../engine/secretFields.ts';
import { secretsOfTransformation } from '../template-builder/transformations.ts';
import { repetitionTree, unit, unitLength } from './repetition.ts';
import {
  anyVariant,
  nullable,
  requestMembers,
  type TriggerContent,
  type TriggerDocument,
  variantsOf,
} from './triggerMembers.ts';
import { transformationOf } from './triggerVariables.ts';

/*
 * Triggers of other installations (docs/behaviour/imports-and-exports.md).
 */

const { endpoint, eventSystem, schedule } = requestMembers;
const { createdBy, lastUpdatedBy } = authoredByPeople;
const extra = { _id: objectId('Id'), createdBy, lastUpdatedBy };

/** A trigger that is there. */
type Present = { readonly content?: TriggerContent; readonly imported?: Imported<TriggerContent> };

/** The members of imported triggers. Some may have any value: how runs are repeated, the verb, the transformation. */
const members = {
  ...requestMembers,
  endpoint: {
    ...endpoint,
    verb: { ...endpoint.verb, [ifItFits]: true },
    jst: Type.Optional({ ...endpoint.jst, [ifItFits]: true }),
  },
  eventSystem: { ...eventSystem, jst: Type.Optional({ ...eventSystem.jst, [ifItFits]: true }) },
  schedule: {
    ...schedule,
    repeatUnit: Type.Optional({ ...nullable(unit, 'Unit of repeatFrequency'), [ifItFits]: true }),
    repeatFrequency: Type.Optional({
      ...nullable(Type.Integer({ minimum: 1 }), 'How many units lie between runs'),
      [ifItFits]: true,
    }),
  },
};

const inBodies = {
  ...members,
  schedule: {
    ...members.schedule,
    repeatInterval: Type.Optional(nullable(Type.Integer(), 'Milliseconds between runs')),
  },
};
const inParts = {
  ...members,
  schedule: {
    ...members.schedule,
    repeatInterval: Type.Optional({ ...nullable(Type.Integer({ minimum: 1 }), 'As above'), [ifItFits]: true }),
    repeat: Type.Optional(nullable(repetitionTree, 'Repetition tree')),
  },
};

type People = { readonly createdBy?: Person; readonly lastUpdatedBy?: Person };
type Signed<Trigger> = Trigger extends unknown ? Omit<Trigger, keyof People> & People : never;
export type ImportedTrigger = Signed<TriggerDocument>;

/** The strict schema of a trigger of any installation, for the lenient schemas of documents that have triggers. */
export const triggerOfAny = Type.Unsafe<ImportedTrigger>(anyVariant('', extra, inBodies));

const { actionType, actionId } = requestMembers.manual;
const inAutomation = {
  ...extra,
  _id: Type.Optional(extra._id),
  actionType: Type.Optional(actionType),
  actionId: Type.Optional(actionId),
};
type WithoutIds<Trigger> = Trigger extends unknown
  ? Omit<Trigger, keyof typeof inAutomation> & Partial<Trigger>
  : never;

/** The same for a trigger that stands in its automation: a person writes no ids. */
export const triggerInAutomation = Type.Unsafe<WithoutIds<ImportedTrigger>>(anyVariant('Own', inAutomation, inBodies));

/** A trigger of any installation. */
export const importedTriggerSchema = lenient(Type.Object({ trigger: triggerOfAny })).properties.trigger;

const partsByType = Object.fromEntries(
  Object.entries(variantsOf('', extra, inParts)).map(([type, schema]) => [type, partsBy(schema)]),
) as Readonly<Record<TriggerDocument['type'], (document: unknown, at?: string) => Parts<ImportedTrigger>>>;

/** The values of required members for values that this service does not know. */
const instead: Readonly<Record<TriggerDocument['type'], Members>> = {
  endpoint: { verb: 'POST', jst: null },
  eventSystem: { jst: null },
  manual: {},
  schedule: {},
};

/** Takes an imported trigger apart. `path` points to it. */
export const triggerParts = (document: unknown, path = ''): Parts<ImportedTrigger> => {
  const { type } = document as TriggerDocument;
  const { known, unknown } = partsByType[type](document, path);
  const unfit = unfitIn(known);
  return {
    known: { ...instead[type], ...without(known, unfit) } as ImportedTrigger,
    unknown:
      unfit.length === 0
        ? unknown
        : inOrder([
            ...exactEntries(unknown ?? {}),
            ...unfit.map((name) => [name, (document as Members)[name]] as const),
          ]),
  };
};

/** The members of a schedule that contradict one another. They count as unknown. */
const unfitIn = (trigger: ImportedTrigger): readonly string[] => {
  if (trigger.type !== 'schedule') return [];
  const { repeat = null, repeatInterval = null, repeatUnit = null, repeatFrequency = null } = trigger;
  if (repeat !== null)
    return Object.entries({ repeatInterval, repeatUnit, repeatFrequency })
      .filter(([, value]) => value !== null)
      .map(([name]) => name);
  if (repeatUnit === null) return repeatFrequency === null ? [] : ['repeatFrequency'];
  if (repeatFrequency === null) return ['repeatUnit'];
  const derived = unitLength[repeatUnit] * repeatFrequency;
  if (!Number.isSafeInteger(derived)) return ['repeatUnit', 'repeatFrequency'];
  return repeatInterval === null || repeatInterval === derived ? [] : ['repeatInterval'];
};

/**
 * Why nobody knows at which interval an imported schedule repeats. Without a tree or an interval it would run once if a
 * member that does not fit only counted as unknown.
 */
export const intervalUnknown = ({ known, unknown = {} }: Parts<ImportedTrigger>, path: string): Fault | undefined => {
  if (known.type !== 'schedule' || known.repeat || known.repeatInterval || known.repeatUnit) return undefined;
  const { repeatUnit = null, repeatFrequency = null, repeatInterval = null } = unknown;
  if (repeatUnit !== null && !(typeof repeatUnit === 'string' && Object.hasOwn(unitLength, repeatUnit)))
    return { message: 'The unit is second, minute, hour, day or week', path: `${path}/repeatUnit` };
  if (repeatUnit !== null && repeatFrequency !== null)
    return { message: 'A frequency is a whole number from 1', path: `${path}/repeatFrequency` };
  if (repeatInterval !== null)
    return { message: 'An interval is at least a second: 1000 ms', path: `${path}/repeatInterval` };
  return undefined;
};

/**
 * The trigger with sealed secrets. The mask keeps the secret of `packaged`, the trigger in the installed version of a
 * package, or of `state`. A mask where nothing is stored stays. `path` points to the trigger.
 */
export const sealTrigger = (
  document: Members,
  { packaged, state }: { readonly packaged?: Members | undefined; readonly state?: Present | undefined },
  seal: Seal,
  path = '',
): Members => {
  const jst = sealedTransformation(document, [packaged, state?.imported?.document, state?.content], seal, path);
  const befores = [packaged, state?.imported?.document].map((before) => before && withoutData(before));
  const sealed = withMembers(document, { ...sealDocument(withoutData(document), befores, seal), ...jst });
  if (!Object.hasOwn(document, 'formData')) return sealed;
  const formData = sealImported(
    document.formData,
    [packaged?.formData, dataIn(state?.content)],
    seal,
    `${path}/formData`,
  );
  return withMembers(document, withMembers(sealed, { formData }));
};

/** The transformation document of a trigger with its secrets sealed; empty if the trigger has none. */
const sealedTransformation = (
  trigger: Members,
  befores: readonly (object | undefined)[],
  seal: Seal,
  path: string,
): Members => {
  const transformation = transformationOf(trigger);
  if (transformation.kind !== 'document') return {};
  const { document: value } = transformation;
  const formerOnes = befores.map((before) => before && 'jst' in before && before.jst);
  const how = { value, befores: formerOnes, seal, path: `${path}/jst`, keepsEqual: false, keepsMask: true };
  return { jst: sealBy(secretsOfTransformation(value), how) };
};

/** Form data and transformation documents have rules of their own. */
const withoutData = (document: Members): Members =>
  without(document, transformationOf(document).kind === 'document' ? ['formData', 'jst'] : ['formData']);
const dataIn = (content: TriggerContent | undefined): unknown =>
  content && 'formData' in content ? content.formData : undefined;

/** The places of the masked secrets for which nothing is stored, as JSON pointers. `path` points to the trigger. */
export const missingInTrigger = ({ content, imported }: Present, path: string): readonly string[] => {
  if (!content || !imported) return [];
  const { document } = imported;
  return missingSecrets('formData' in content ? withMembers(document, { formData: content.formData }) : document, path);
};

/** True if an export says the same as the document in the same words. */
export const sameWords = (document: Members, { content, imported }: Present): boolean =>
  imported !== undefined &&
  same(imported.content, content) &&
  JSON.stringify(imported.document) === JSON.stringify(document);

// Members of a trigger that the service itself maintains. They are null until they have a value.
const timingMembers = ['lastExecuted', 'nextRunAt', 'lastIntervalStart', 'formSchemaHash'];

/** The trigger in the export of its automation. `members` is the document in answers, with usernames. */
export const exportedTrigger = ({ content, imported }: Present, members: Members, words: Words): Members => {
  const now = content ?? {};
  if (!imported || words !== 'imported') {
    const unfit = imported ? openIn(imported, now as Members) : [];
    const exportedDocument = exported(
      imported && { document: imported.document, content: without(imported.content, unfit) },
      { content: without(now, unfit), shown: without(members, unfit) },
      words,
    );
    return without(
      exportedDocument,
      timingMembers.filter((name) => Object.hasOwn(members, name) && exportedDocument[name] === null),
    );
  }
  const made = exported(imported, { content: now, shown: members }, words);
  return same(imported.content, content) || !Object.hasOwn(made, 'formSchemaHash')
    ? made
    : withMembers(made, { formSchemaHash: members.formSchemaHash });
};

const without = (document: object, names: readonly string[]): Members =>
  withoutMembers(document as Members, (name) => names.includes(name));

/** The members of which the import had values that this service does not know. */
const openIn = ({ document, content }: Imported<TriggerContent>, now: Members): readonly string[] => {
  const { unknown = {} } = triggerParts(document);
  return Object.keys(instead[content.type]).filter(
    (name) => Object.hasOwn(unknown, name) && same((content as Members)[name], now[name]),
  );
};
