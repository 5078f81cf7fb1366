import type { Event } from '../../domain/engine/core.ts';
import { nameKey } from '../../domain/engine/names.ts';
import type { AutomationImported } from '../../domain/operations-manager/automationImports.ts';
import { automationNames } from '../../domain/operations-manager/automations.ts';
import { triggerNames } from '../../domain/operations-manager/triggers.ts';
import type { Bundle } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { triggers as allTriggers } from '../../projections/operations-manager/triggers.ts';
import { holderOf } from '../engine/kinds.ts';
import { importAutomation, preparing } from '../operations-manager/automationImports.ts';
import { type Draft, onlyFor } from './prebuiltDrafts.ts';

/** The part of the document that a plan needs. */
type Given = {
  readonly name: string;
  readonly triggers?: readonly { readonly _id: string; readonly name: string }[];
};

/** The decision that `importAutomation` would make for this document; undefined if nothing changes. */
const decideImport = async ({ request, world }: Draft, bundle: Bundle, index: number) => {
  const { actor, now, newId, overwrite, installedAs } = request;
  const id = newId(`automation import ${index}`);
  const input = { automation: bundle.data as never, overwrite };
  const refs = await preparing(
    { input, actor, newId: (word) => newId(`automation ${index} ${word}`) },
    world,
    installedAs(bundle, index) as never,
  );
  const [decided] = importAutomation.decide({}, input, { id, now, actor, newId, refs }) as readonly Event<
    string,
    AutomationImported
  >[];
  return { refs, decided: decided?.data };
};

/** Plans one automation with its triggers. */
export const planAutomation = async (draft: Draft, bundle: Bundle, index: number): Promise<void> => {
  const { type } = bundle;
  const { refs, decided } = await decideImport(draft, bundle, index);
  const { name, triggers: given = [] } = refs.sealed as Given;
  draft.reserve(index, [
    `automation-${refs.id}`,
    ...automationNames({ name }).map(nameKey),
    ...given.map(({ _id }) => `trigger-${_id}`),
  ]);
  if (decided) await planParts(draft, decided, given, index);
  draft.installed[index] = { type, _id: refs.id, name };
  draft.sealed[index] = { ...bundle, data: refs.sealed };
};

const planParts = async (
  { tools, reserve, parts, removed }: Draft,
  { automation: { _id, ...automation }, triggers, removed: gone }: AutomationImported,
  given: NonNullable<Given['triggers']>,
  bundle: number,
): Promise<void> => {
  const restored = triggers.map(({ _id: id, ...content }) => ({
    category: 'trigger',
    id,
    names: triggerNames(content),
    bundle,
    content,
  }));
  reserve(
    bundle,
    restored.flatMap((part) => [`trigger-${part.id}`, ...part.names.map(nameKey)]),
  );
  onlyFor(_id, await holderOf(automations, 'name', automation.name, tools), automation.name);
  for (const { id, content } of restored) {
    if (content.type !== 'endpoint') continue;
    const path = `/triggers/${given.findIndex(({ name }) => name === content.name)}/routeName`;
    onlyFor(id, await holderOf(allTriggers, 'routeName', content.routeName, tools), content.routeName, path);
  }
  parts.push(
    { category: 'automation', id: _id, names: automationNames(automation), bundle, content: automation },
    ...restored,
  );
  removed.push(...gone.map((id) => ({ id, actionId: _id })));
};
