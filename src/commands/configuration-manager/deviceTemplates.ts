import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import type { KnownDevice } from '../../domain/configuration-manager/deviceSources.ts';
import {
  create,
  type DeviceTemplateContent,
  deviceTemplate,
  deviceTemplateChangesSchema,
  deviceTemplateDeletions,
  importOne,
  newDeviceTemplateSchema,
  remove,
  sealTemplate,
  update,
} from '../../domain/configuration-manager/deviceTemplates.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { withMembers } from '../../domain/engine/exactMembers.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { openSecrets } from '../../domain/engine/secretFields.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { deleteDecided } from '../engine/deletions.ts';
import { by, type Kind } from '../engine/kinds.ts';
import type { Reaction } from '../engine/reactions.ts';
import { deviceFacts } from './deviceChecks.ts';

const command = commandsOf(deviceTemplate);

export const createDeviceTemplate = command({
  name: 'createDeviceTemplate',
  input: newDeviceTemplateSchema,
  on: 'new',
  seal: sealTemplate,
  decide: create,
});

export const updateDeviceTemplate = command({
  name: 'updateDeviceTemplate',
  input: deviceTemplateChangesSchema,
  on: 'existing',
  seal: sealTemplate,
  decide: update,
});

/** Takes in one template. */
export const importDeviceTemplate = command({
  name: 'importDeviceTemplate',
  input: Type.Object({ template: newDeviceTemplateSchema, overwrite: Type.Boolean() }),
  on: 'any',
  seal: ({ template, overwrite }, state, seal) => ({ template: sealTemplate(template, state, seal), overwrite }),
  decide: importOne,
});

/** Part of a decision to delete templates. */
const removeDeviceTemplate = command({ name: 'removeDeviceTemplate', input: noInput, on: 'any', decide: remove });

export const deleteDeviceTemplates = commandsOf(deviceTemplateDeletions.of)({
  name: 'deleteDeviceTemplates',
  input: deviceTemplateDeletions.schema,
  on: 'new',
  decide: deviceTemplateDeletions.decide,
  prepare: async ({ input: { templateIds } }, { state }) => {
    const missing: string[] = [];
    for (const id of new Set(templateIds)) if (!(await state(deviceTemplate, id)).exists) missing.push(id);
    return { missing };
  },
});

export const deviceTemplateReactions: readonly Reaction[] = [
  deleteDecided(deviceTemplateDeletions, removeDeviceTemplate),
];

export const deviceTemplateKind: Kind = {
  of: deviceTemplate,
  restore: { there: by(updateDeviceTemplate), deleted: by(createDeviceTemplate) },
};

type Rendering = {
  readonly found: Pick<KnownDevice, 'device'>;
  readonly actor: Actor;
  /** Before the template's own. */
  readonly variables: Members;
  readonly signal: AbortSignal;
};

type Needs = Parameters<typeof deviceFacts>[0] & {
  readonly tools: Pick<Tools, 'unseal'>;
  readonly renderer: {
    readonly render: (
      template: string,
      variables: Members,
      rendering: {
        readonly account: string;
        readonly signal: AbortSignal;
        readonly find: (name: string) => Promise<string | undefined>;
      },
    ) => Promise<string>;
  };
  /** The type that a name of the type of a device stands for. */
  readonly typeNamed: (ostype: string | undefined) => string;
};

/**
 * Renders device templates: with the variables of the change over those of the template, and `device`, which has no secrets.
 * Throws `conflict` for a device of another type, and `unprocessable` for a template that does not render.
 */
export const deviceTexts = (needs: Needs) => {
  const { factsOf } = deviceFacts(needs);
  const { tools, renderer, typeNamed } = needs;
  return async (
    { name, template, variables: own, deviceOSTypes: types }: DeviceTemplateContent,
    { found: { device }, actor, variables, signal }: Rendering,
  ): Promise<string> => {
    const isFit = types.length === 0 || types.some((type) => typeNamed(type) === typeNamed(device.ostype));
    if (!isFit) {
      const words = `The device template ${JSON.stringify(name)} is for ${types.join(', ')}, not for this device`;
      throw new RequestError('conflict', words, { path: '/deviceName' });
    }
    const { attributes = {}, ...facts } = (await factsOf(device.name, actor)).device;
    const open = openSecrets({ ...own, ...variables }, tools.unseal) as Members;
    const all = withMembers({ device: withMembers(attributes, facts) }, open);
    const text = await renderer.render(template, all, { account: actor.id, signal, find: async () => undefined });
    if (text.trim() === '')
      throw new RequestError('unprocessable', `The device template ${JSON.stringify(name)} renders no lines`);
    return text;
  };
};

export type DeviceTexts = ReturnType<typeof deviceTexts>;
