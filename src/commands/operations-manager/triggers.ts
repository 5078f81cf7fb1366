import { schemaFaultOf } from '@automation-platform/bounded-schemas';
import { Type } from 'typebox';
import { everybody } from '../../domain/authorization/gbac.ts';
import type { Actor, Gbac } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { type Seal, sealBy } from '../../domain/engine/secretFields.ts';
import type { PresentTrigger } from '../../domain/operations-manager/automationImports.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import {
  type ImportedTrigger,
  importedTriggerSchema,
  sealTrigger,
  triggerParts,
} from '../../domain/operations-manager/importedTriggers.ts';
import { newTriggerSchema, triggerPatchSchema } from '../../domain/operations-manager/triggerMembers.ts';
import {
  change,
  create,
  importOne,
  remove,
  removeFrom,
  restore,
  type TriggerContent,
  type TriggerFaults,
  type TriggerRefs,
  type TriggerState,
  trigger,
} from '../../domain/operations-manager/triggers.ts';
import { transformationOf } from '../../domain/operations-manager/triggerVariables.ts';
import { secretsOfTransformation } from '../../domain/template-builder/transformations.ts';
import { triggers } from '../../projections/operations-manager/triggers.ts';
import { importAuthors } from '../authorization/authors.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { by, byImport, type Kind, partCommand, picked } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import { queryAll } from '../engine/tools.ts';
import { formReferences } from '../json-forms/forms.ts';
import { transformationReferences } from '../template-builder/transformations.ts';
import { transformationFaultOf } from './transformations.ts';
import { changedForm, formOf, importedForm, inStoredWords, newsOfForm, sealedData } from './triggerForms.ts';

const command = commandsOf(trigger);

/**
 * True if the automation exists and the actor may change it. An automation that the actor may not see counts as
 * missing.
 */
const targetOf = async (id: string, actor: Actor, tools: Tools) => {
  const {
    exists,
    content: { gbac },
  } = await tools.state(automation, id);
  return mayRead(actor, gbac) ? { exists, writable: mayWrite(actor, gbac) } : { exists: false, writable: false };
};

/** Why the filter of a trigger, or its transformation, cannot be used; empty if they can. */
export const faultsOf = async (
  members: object,
  before: TriggerContent | undefined,
  actor: Actor,
  tools: Tools,
): Promise<TriggerFaults> => ({
  ...schemaFaultOf('schema' in members ? (members.schema ?? undefined) : undefined),
  ...defined({ jstFault: await transformationFaultOf(members, before, actor, tools) }),
});

/** The locks of decisions on what a trigger names: its form and its transformation. */
export const locksOfNames = (one: object): readonly string[] => [
  ...('formId' in one && one.formId != null ? [formReferences] : []),
  ...(transformationOf(one).kind === 'named' ? [transformationReferences] : []),
];

/** The triggers of an automation. */
export const triggersOf = async (actionId: string, tools: Tools): Promise<readonly PresentTrigger[]> => {
  const found = await queryAll(tools, triggers, { field: 'actionId', op: 'equals', value: actionId });
  // Reads the streams, not the documents: documents have masked secrets.
  const states = await Promise.all(found.map(async ({ _id }) => ({ id: _id, ...(await tools.state(trigger, _id)) })));
  return states.flatMap(({ id, exists, content, imported }) =>
    exists && content ? [{ id, content, ...defined({ imported }) }] : [],
  );
};

const refsOf = async (
  members: { readonly actionId?: string },
  { exists, content }: TriggerState,
  actor: Actor,
  tools: Tools,
): Promise<TriggerRefs> => {
  // A deleted trigger follows the automation that it had last.
  const of = content?.actionId;
  const moves = members.actionId !== undefined && !(exists && members.actionId === of);
  return {
    gbac: of === undefined ? everybody : (await tools.state(automation, of)).content.gbac,
    ...defined({ target: moves ? await targetOf(members.actionId, actor, tools) : undefined }),
    ...(await faultsOf(members, exists ? content : undefined, actor, tools)),
  };
};

/** A trigger with the secrets of its transformation document sealed. The mask keeps those of the trigger that is there. */
const withSealedJst = <Trigger extends object>(one: Trigger, { content }: TriggerState, seal: Seal): Trigger => {
  const transformation = transformationOf(one);
  if (transformation.kind !== 'document') return one;
  const { document: value } = transformation;
  const before = content && 'jst' in content ? content.jst : undefined;
  const how = { value, befores: [before], seal, path: '/jst', keepsEqual: true };
  return { ...one, jst: sealBy(secretsOfTransformation(value), how) };
};

type Import = { readonly trigger: ImportedTrigger; readonly overwrite?: boolean };

const sealImport = (input: Import, state: TriggerState, seal: Seal): Import => ({
  ...input,
  trigger: sealTrigger(input.trigger, { state: state.exists ? state : undefined }, seal) as ImportedTrigger,
});

const gbac = (_: TriggerState, refs: TriggerRefs): Gbac => refs.gbac;

export const createTrigger = command({
  name: 'createTrigger',
  input: newTriggerSchema,
  on: 'new',
  gbac,
  decide: create,
  seal: withSealedJst,
  locks: (_, input) => locksOfNames(input),
  prepare: async ({ input, state, actor }, tools) => {
    const formData = sealedData(input, undefined, tools);
    return { ...(await refsOf(input, state, actor, tools)), formData, form: await formOf(input, actor, tools) };
  },
});
export const updateTrigger = command({
  name: 'updateTrigger',
  input: triggerPatchSchema,
  on: 'existing',
  gbac,
  decide: change,
  seal: withSealedJst,
  locks: ({ content }, patch) => [
    ...locksOfNames({ ...changedForm(content, patch), ...defined({ jst: patch.jst }) }),
    ...(patch.actionId === undefined || patch.actionId === content?.actionId ? [] : [importing]),
  ],
  prepare: async ({ input, state, actor }, tools) => {
    const refs = await refsOf(input, state, actor, tools);
    // A caller who may not read the trigger must not learn whether the mask keeps a secret.
    if (!mayRead(actor, refs.gbac)) return refs;
    const formData = sealedData(input, state.content, tools);
    return { ...refs, formData, form: await formOf(changedForm(state.content, input), actor, tools) };
  },
});
export const deleteTrigger = command({
  name: 'deleteTrigger',
  on: 'existing',
  gbac,
  decide: remove,
  prepare: ({ state, actor }, tools) => refsOf({}, state, actor, tools),
});
export const importTrigger = command({
  name: 'importTrigger',
  input: Type.Object({ trigger: importedTriggerSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  gbac,
  decide: importOne,
  seal: sealImport,
  locks: (state, { trigger }) => [
    importing,
    ...locksOfNames(newsOfForm(trigger, state.exists ? state : {}) ? trigger : { ...trigger, formId: null }),
  ],
  prepare: async (request, tools) => {
    const { id, input, state, actor } = request;
    const { known: given } = triggerParts(input.trigger);
    const refs = await refsOf(given, state, actor, tools);
    if (!mayRead(actor, refs.gbac)) return { ...refs, accounts: {} };
    const sealed = triggerParts(sealImport(input, state, tools.seal).trigger).known;
    const storedWords = await inStoredWords(sealed, state.exists ? state : undefined, tools);
    return {
      ...refs,
      ...defined({ formId: 'formId' in storedWords ? storedWords.formId : undefined }),
      form: await importedForm(storedWords, state.exists ? state : undefined, actor, tools),
      ...(await importAuthors({ aggregate: trigger, id, documents: [storedWords], ...input }, tools)),
    };
  },
});

/** Parts of imports and deletions of automations. */
export const restoreTrigger = partCommand(trigger, restore);
export const removeTrigger = command({
  name: 'removeTrigger',
  input: Type.Object({ actionId: Type.String() }),
  on: 'any',
  decide: removeFrom,
});

export const triggerKind: Kind = {
  of: trigger,
  part: restoreTrigger,
  restore: {
    // Without null, a change leaves these members as they are.
    there: by(updateTrigger, {
      input: (former) => ({ description: null, options: null, ...picked(triggerPatchSchema, former) }),
    }),
    deleted: byImport(importTrigger, 'trigger', 'importTriggers'),
  },
};
