import { createHash, hash } from 'node:crypto';
import { Type } from 'typebox';
import { oneByOne } from '../../concurrency/oneByOne.ts';
import { canonical } from '../../domain/engine/canonical.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { type Bundle, prebuiltDocumentSchema } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { isClear, maskBundle } from '../../domain/prebuilts/prebuiltSecrets.ts';
import {
  automationsIn,
  complete,
  decideImport,
  isInstalled,
  type Part,
  type Plan,
  type PrebuiltImported,
  type PrebuiltRefs,
  prebuilt,
  remove,
} from '../../domain/prebuilts/prebuilts.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { accountIds } from '../authorization/authors.ts';
import { treeReferences } from '../configuration-manager/trees.ts';
import { mayRead } from '../engine/access.ts';
import { type AnyCommand, commandsOf, noInput, type Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { formReferences } from '../json-forms/forms.ts';
import { restoreAutomation } from '../operations-manager/automations.ts';
import { removeTrigger, restoreTrigger } from '../operations-manager/triggers.ts';
import { kindOf, type Restored } from './prebuiltKinds.ts';
import { planOf } from './prebuiltPlans.ts';

const command = commandsOf(prebuilt);

/** The id of the package with this name. It is the same for every caller. */
export const prebuiltId = (name: string): string => hash('sha256', `prebuilt ${name}`, 'hex').slice(0, 24);

type Seen = Required<Pick<PrebuiltRefs, 'bundlesHash' | 'bringsSecrets'>>;

/**
 * SHA-256 of the bundles as canonical JSON with masked secrets, hexadecimal, and whether any secret is in clear. Other
 * requests run in between.
 */
const seenIn = async (bundles: readonly Bundle[]): Promise<Seen> => {
  const digest = createHash('sha256').update('[');
  const clear = await oneByOne([...bundles.entries()], ([i, bundle]) => {
    digest.update(`${i > 0 ? ',' : ''}${canonical(maskBundle(bundle))}`);
    return isClear(bundle);
  });
  return { bundlesHash: digest.update(']').digest('hex'), bringsSecrets: clear.includes(true) };
};

/** The automations of a package that the actor may not read. Deleted ones keep their access lists. */
export const hiddenAutomations = async (
  installed: Plan['installed'],
  actor: Actor,
  { state }: Pick<Tools, 'state'>,
): Promise<ReadonlySet<string>> => {
  const hidden = new Set<string>();
  if (actor.admin) return hidden;
  for (const id of automationsIn(installed)) {
    const {
      content: { name, gbac },
    } = await state(automation, id);
    // An automation without a name is not created yet.
    if (name === '' || !mayRead(actor, gbac)) hidden.add(id);
  }
  return hidden;
};

const noPlan: Plan = { parts: [], removed: [], installed: [] };

/** Decides to install a package; the reactions below carry it out. */
export const importPrebuilt = command({
  name: 'importPrebuilt',
  input: Type.Object({ prebuilt: prebuiltDocumentSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  precompute: ({ prebuilt: { bundles } }): Promise<Seen> => seenIn(bundles),
  locks: (_, { prebuilt: { bundles } }) => {
    const types = new Set(bundles.map(({ type }) => type));
    const locks: string[] = [];
    if (types.has('forms') || types.has('json-forms') || types.has('automation')) locks.push(formReferences);
    if (types.has('golden-config')) locks.push(treeReferences);
    return locks;
  },
  prepare: async (request, tools): Promise<PrebuiltRefs & { readonly sealed: readonly Bundle[] }> => {
    const {
      input: { prebuilt, overwrite },
      state,
      actor,
    } = request;
    const seen: Seen = request.precomputed;
    const hidden = (await hiddenAutomations(state.imported?.installed ?? [], actor, tools)).size > 0;
    const known = () => !seen.bringsSecrets && isInstalled(state, prebuilt, seen.bundlesHash);
    const idle = state.pending || hidden || (!overwrite && known());
    if (idle) return { ...seen, hidden, plan: noPlan, sealed: prebuilt.bundles, errors: [], accounts: {} };
    const { plan, sealed, errors } = await planOf(request, tools);
    const accounts = await accountIds(
      prebuilt.bundles.map(({ data }) => data),
      tools,
    );
    return { ...seen, hidden, plan, sealed, errors, accounts };
  },
  decide: (state, { prebuilt, ...options }, context) => {
    const sealed = { ...prebuilt, bundles: context.refs.sealed };
    return decideImport(state, { ...options, prebuilt: sealed }, context);
  },
});

export const deletePrebuilt = command({
  name: 'deletePrebuilt',
  input: noInput,
  on: 'existing',
  decide: remove,
});
const completePrebuilt = command({
  name: 'completePrebuilt',
  input: noInput,
  on: 'existing',
  decide: complete,
});

const ofContent: Readonly<Record<string, AnyCommand>> = { automation: restoreAutomation, trigger: restoreTrigger };

/** Throws if a stored plan refers to something unknown. That would be a bug. */
const known = <T>(found: T | undefined): T => {
  if (found === undefined) throw new Error('The plan of a package names what is not there');
  return found;
};

/**
 * The commands that carry an installation out, in the streams of its resources. The last one notes that it is complete.
 */
const installAll = async ({
  stream,
  data: {
    prebuilt: { bundles },
    parts,
    removed,
    accounts,
  },
  metadata: { at },
}: Recorded<PrebuiltImported>): Promise<readonly Next[]> => {
  const restored = ({ category, id, bundle, content }: Part): Next => {
    if (content !== undefined) return { command: known(ofContent[category]), id, input: content };
    const { data: document } = known(bundles[bundle]);
    return { command: known(kindOf(category)).restore, id, input: { document, accounts, at } satisfies Restored };
  };
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
