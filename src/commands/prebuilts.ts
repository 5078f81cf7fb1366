import { createHash, hash } from 'node:crypto';
import { Type } from 'typebox';
import { canonical } from '../domain/canonical.ts';
import { complete, decideImport, isInstalled, prebuilt, type Part, type PrebuiltImported, type PrebuiltRefs, remove } from '../domain/prebuilts.ts';
import { type Bundle, prebuiltDocumentSchema } from '../domain/prebuiltSchemas.ts';
import { type Recorded, splitStream } from '../store/event.ts';
import { accountIds } from './authors.ts';
import { restoreAutomation } from './automations.ts';
import { type Command, commandsOf } from './define.ts';
import { formReferences } from './forms.ts';
import { kindOf, type Restored } from './prebuiltKinds.ts';
import { planOf } from './prebuiltPlans.ts';
import type { Next, Reaction } from './reactions.ts';
import { inTurns } from './searches.ts';
import { treeReferences } from './trees.ts';
import { removeTrigger, restoreTrigger } from './triggers.ts';

const command = commandsOf(prebuilt);

/** Id of the prebuilt of this name, whoever installs it. */
export const prebuiltId = (name: string): string => hash('sha256', `prebuilt ${name}`, 'hex').slice(0, 24);

/** SHA-256 over the canonical bundles, hexadecimal; others have their turn meanwhile. */
const bundlesHash = async (bundles: readonly Bundle[]): Promise<string> => {
  const digest = createHash('sha256').update('[');
  await inTurns([...bundles.entries()], ([i, bundle]) => void digest.update(`${i > 0 ? ',' : ''}${canonical(bundle)}`));
  return digest.update(']').digest('hex');
};

/** Decides to install a package; what follows is below. */
export const importPrebuilt = command({
  name: 'importPrebuilt', long: true, input: Type.Object({ prebuilt: prebuiltDocumentSchema, overwrite: Type.Optional(Type.Boolean()) }), on: 'any', decide: decideImport,
  early: ({ prebuilt: { bundles } }): Promise<string> => bundlesHash(bundles),
  series: (_, { prebuilt: { bundles } }) => [
    ...(bundles.some(({ type }) => type === 'forms' || type === 'json-forms' || type === 'automation') ? [formReferences] : []),
    ...(bundles.some(({ type }) => type === 'golden-config') ? [treeReferences] : []),
  ],
  prepare: async (request, tools): Promise<PrebuiltRefs> => {
    const { input: { prebuilt, overwrite }, state, early: bundlesHash } = request;
    const idle = state.pending || (!overwrite && isInstalled(state, prebuilt, bundlesHash));
    const { plan, refusals } = idle ? { plan: { parts: [], removed: [], installed: [] }, refusals: [] } : await planOf(request, tools);
    return { bundlesHash, plan, refusals, accounts: idle ? {} : await accountIds(prebuilt.bundles.map(({ data }) => data), tools) };
  },
});

export const deletePrebuilt = command({ name: 'deletePrebuilt', input: Type.Object({}), on: 'existing', decide: remove });
const completePrebuilt = command({ name: 'completePrebuilt', input: Type.Object({}), on: 'existing', decide: complete });

const ofContent: Readonly<Record<string, Command>> = { automation: restoreAutomation, trigger: restoreTrigger };

/** What a package has decided, carried out in the streams that it is about; at last that it has been. */
const installAll = async ({ stream, data: { prebuilt: { bundles }, parts, removed, accounts }, metadata: { at } }: Recorded<PrebuiltImported>): Promise<readonly Next[]> => {
  const restored = ({ category, id, bundle, content }: Part): Next => (content === undefined
    ? { command: kindOf(category)!.restore, id, input: { document: bundles[bundle]!.data, accounts, at } satisfies Restored }
    : { command: ofContent[category]!, id, input: content });
  const documents = parts.filter(({ content }) => content === undefined);
  const automations = parts.filter(({ content }) => content !== undefined);
  return [
    ...documents.map(restored),
    ...removed.map(({ id, actionId }) => ({ command: removeTrigger, id, input: { actionId } })),
    ...automations.map(restored),
    { command: completePrebuilt, id: splitStream(stream).id, input: {} },
  ];
};

export const prebuiltReactions: readonly Reaction[] = [{ of: prebuilt, on: { prebuiltImported: installAll } }];
