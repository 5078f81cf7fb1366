import { createHash } from 'node:crypto';
import { oneByOne } from '@automation-platform/concurrency';
import { canonical } from '@automation-platform/json';
import { Type } from 'typebox';
import { adminsAlone, everybody } from '../../domain/authorization/gbac.ts';
import { gbacOfProject, project } from '../../domain/automation-studio/projects.ts';
import { same } from '../../domain/engine/changes.ts';
import type { Actor, Context } from '../../domain/engine/core.ts';
import { maskSecrets, withDescriptions } from '../../domain/engine/secretFields.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import type { Part } from '../../domain/prebuilts/parts.ts';
import {
  type Bundle,
  importedPrebuiltSchema,
  isHeld,
  type PrebuiltDocument,
} from '../../domain/prebuilts/prebuiltSchemas.ts';
import { isClear, isClearAround, maskBundle, sealAround } from '../../domain/prebuilts/prebuiltSecrets.ts';
import {
  complete,
  type Deciding,
  decideImport,
  isInstalled,
  isWaiting,
  matching,
  type Plan,
  type PrebuiltEvent,
  type PrebuiltImport,
  type PrebuiltImported,
  type PrebuiltRefs,
  type PrebuiltState,
  prebuilt,
  remove,
  withoutRefused,
} from '../../domain/prebuilts/prebuilts.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { accountIds } from '../authorization/authors.ts';
import { componentLocks, planProject, unpackProject } from '../automation-studio/projects.ts';
import { treeReferences } from '../configuration-manager/trees.ts';
import { mayRead } from '../engine/access.ts';
import { commandsOf, type Preparing, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { formReferences } from '../json-forms/forms.ts';
import { removeTrigger } from '../operations-manager/triggers.ts';
import { transformationReferences } from '../template-builder/transformations.ts';
import { partOf, planOf } from './prebuiltPlans.ts';

const command = commandsOf(prebuilt);

/** The id of the package with this name. It is the same for every caller. */
export const prebuiltId = (name: string): string => derivedId(`prebuilt ${name}`);

type Seen = Required<Pick<PrebuiltRefs, 'bundlesHash' | 'bringsSecrets'>>;

/**
 * SHA-256 of the bundles as canonical JSON with masked secrets, hexadecimal, and whether any secret is in clear. Other
 * requests run in between.
 */
const seenIn = async (prebuilt: PrebuiltDocument): Promise<Seen> => {
  const { bundles } = prebuilt;
  const digest = createHash('sha256').update('[');
  const clear = await oneByOne([...bundles.entries()], ([i, bundle]) => {
    digest.update(`${i > 0 ? ',' : ''}${canonical(maskBundle(bundle))}`);
    return isClear(bundle);
  });
  return {
    bundlesHash: digest.update(']').digest('hex'),
    bringsSecrets: clear.includes(true) || isClearAround(prebuilt),
  };
};

/** Those of a package's automations and projects that the actor may not read. Deleted ones keep their access lists. */
export const hiddenOf = async (
  { automations, projects = [] }: Deciding,
  actor: Actor,
  { stateForRights }: Pick<Tools, 'stateForRights'>,
): Promise<ReadonlySet<string>> => {
  const hidden = new Set<string>();
  if (actor.admin) return hidden;
  for (const id of projects)
    if (!mayRead(actor, gbacOfProject((await stateForRights(project, id)).access))) hidden.add(id);
  for (const id of automations) {
    const {
      content: { name, gbac },
    } = await stateForRights(automation, id);
    // An automation without a name is not created yet.
    if (name === '' || !mayRead(actor, gbac)) hidden.add(id);
  }
  return hidden;
};

/** The state with what earlier versions took for secrets in clear. */
const withDescriptionsIn = (state: PrebuiltState, { unseal }: Pick<Tools, 'unseal'>): PrebuiltState => {
  if (!state.imported) return state;
  const prebuilt = withDescriptions(state.imported.prebuilt, unseal) as PrebuiltDocument;
  return { ...state, imported: { ...state.imported, prebuilt } };
};

const pathOf = (index: number): string => `/prebuilt/bundles/${index}/data`;

/**
 * Plans those documents of an installed package that it keeps, and that this version installs. All else stays as it is,
 * also where they were changed since.
 */
const planWaiting = async (
  { imported }: PrebuiltState,
  request: Omit<Parameters<typeof planOf>[0], 'bundles' | 'installedAs' | 'pathOf'>,
  tools: Tools,
): Promise<Pick<Awaited<ReturnType<typeof planOf>>, 'plan' | 'sealed' | 'errors' | 'components'>> => {
  const { prebuilt, installed = [] } = imported ?? {};
  const bundles = prebuilt?.bundles ?? [];
  const waiting = new Set((imported?.kept ?? []).flatMap(({ type }) => (isHeld(type) ? [type] : [])));
  const places = [...bundles.keys()].filter((index) => waiting.has(bundles[index]?.type ?? ''));
  const some = places.flatMap((place) => bundles[place] ?? []);
  const placeOf = (index: number): number => places[index] ?? -1;
  const planned = await planOf(
    {
      ...request,
      bundles: some,
      installedAs: (_, index) => some.slice(index, index + 1).map(({ data }) => data),
      pathOf: (index) => pathOf(placeOf(index)),
    },
    tools,
  );
  const errors = planned.errors.map(({ index, error }) => ({ index: placeOf(index), error }));
  const refused = new Set(errors.map(({ index }) => index));
  const remaining = [...bundles.keys()].filter((index) => !refused.has(index));
  const accepted = places.filter((place) => !refused.has(place));
  return {
    components: planned.components,
    errors,
    sealed: remaining.map((index) => planned.sealed[accepted.indexOf(index)] ?? bundles[index]!), // of the keys
    plan: {
      removed: planned.plan.removed,
      installed: [...installed, ...planned.plan.installed],
      parts: planned.plan.parts.map((part) => ({ ...part, bundle: remaining.indexOf(accepted[part.bundle] ?? -1) })),
    },
  };
};

const noPlan: Plan = { parts: [], removed: [], installed: [] };

type Request = Preparing<PrebuiltState, PrebuiltImport, Seen>;
type Prepared = PrebuiltRefs & {
  /** The state with what earlier versions took for secrets in clear. */
  readonly present: PrebuiltState;
  /** The package with sealed secrets outside of the data of its documents. */
  readonly around: PrebuiltDocument;
  /** The documents that are installed or kept, with sealed secrets. */
  readonly sealed: readonly Bundle[];
};

/** Plans the installation, unless nothing can come of it. */
const preparing = async (request: Request, tools: Tools): Promise<Prepared> => {
  const {
    input: { prebuilt, overwrite = false },
    actor,
    precomputed,
  } = request;
  const state = withDescriptionsIn(request.state, tools);
  const hidden = (await hiddenOf(state.deciding, actor, tools)).size > 0;
  const isKnown = () => !precomputed.bringsSecrets && isInstalled(state, prebuilt, precomputed.bundlesHash);
  const isSame = !overwrite && isKnown();
  const idle = state.pending || hidden || (isSame && !isWaiting(state));
  const about = { ...precomputed, isSame, hidden, present: state };
  if (idle) return { ...about, plan: noPlan, around: prebuilt, sealed: prebuilt.bundles, errors: [], accounts: {} };
  const around = sealAround(prebuilt, state.imported?.prebuilt, tools.seal);
  const { now, newId } = request;
  const installing = { actor, now, newId, overwrite, plans: { [project.category]: planProject } };
  const { plan, sealed, errors, components } = isSame
    ? await planWaiting(state, installing, tools)
    : await planOf(
        {
          ...installing,
          bundles: around.bundles,
          installedAs: matching(state.imported?.prebuilt.bundles ?? []),
          pathOf,
        },
        tools,
      );
  const rest = withoutRefused(prebuilt, errors);
  const { bundles } = rest;
  const accounts = await accountIds(
    bundles.map(({ data }) => data),
    tools,
  );
  const seenNow = errors.length > 0 ? await seenIn(rest) : precomputed;
  return { ...about, ...seenNow, plan, around, sealed, errors, accounts, stayingOut: components.refused };
};

/** The decision on the package with sealed secrets. */
const deciding = (
  _: PrebuiltState,
  { prebuilt: __, ...options }: PrebuiltImport,
  context: Context<Prepared>,
): readonly PrebuiltEvent[] => {
  const { present, around, sealed, errors } = context.refs;
  const bundles = [...sealed];
  // The decision leaves out the documents that are refused, so they must stand where the request has them.
  for (const { index } of errors) bundles.splice(index, 0, around.bundles[index]!); // errors are sorted by index
  return decideImport(present, { ...options, prebuilt: { ...around, bundles } }, context);
};

/** Decides to install a package; the reactions below carry it out. */
export const importPrebuilt = command({
  name: 'importPrebuilt',
  input: Type.Object({
    prebuilt: importedPrebuiltSchema,
    overwrite: Type.Optional(Type.Boolean()),
    strict: Type.Optional(Type.Boolean()),
  }),
  on: 'any',
  precompute: ({ prebuilt }): Promise<Seen> => seenIn(prebuilt),
  locks: (_, { prebuilt: { bundles } }) => {
    const types = new Set(bundles.map(({ type }) => type));
    const locks: string[] = [importing];
    if (types.has('forms') || types.has('json-forms') || types.has('automation') || types.has('ac-agenda-job'))
      locks.push(formReferences);
    if (types.has('project')) locks.push(...componentLocks());
    if (types.has('golden-config')) locks.push(treeReferences);
    if (['transformation', 'automation', 'workflow'].some((type) => types.has(type)))
      locks.push(transformationReferences);
    return [...new Set(locks)];
  },
  prepare: (request, tools) => preparing(request, tools),
  decide: deciding,
});

/** The event that an import would store; undefined if it would change nothing. Throws what the import would throw. */
export const previewImport = async (
  input: PrebuiltImport,
  request: Pick<Request, 'id' | 'actor' | 'now' | 'newId'>,
  tools: Tools,
): Promise<PrebuiltImported | undefined> => {
  const state = await tools.state(prebuilt, request.id);
  const precomputed = await seenIn(input.prebuilt);
  const refs = await preparing({ ...request, input, state, precomputed }, tools);
  const [event] = deciding(state, input, { ...request, refs });
  return event?.topic === 'prebuiltImported' ? event.data : undefined;
};

export const deletePrebuilt = command({
  name: 'deletePrebuilt',
  on: 'existing',
  prepare: async ({ state, actor }, tools) => ({
    hidden: (await hiddenOf(state.deciding, actor, tools)).size > 0,
  }),
  gbac: (_, { hidden }) => (hidden ? adminsAlone : everybody),
  decide: remove,
});
const completePrebuilt = command({
  name: 'completePrebuilt',
  on: 'existing',
  decide: complete,
});

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
  const restored = (part: Part): Next => partOf(part, { bundles, accounts, at });
  const documents = parts.filter(({ content }) => content === undefined);
  const projects = parts.filter(({ category }) => category === project.category);
  const automations = parts.filter((part) => part.content !== undefined && !projects.includes(part));
  return [
    ...documents.map(restored),
    ...projects.map(({ id, content: input }) => ({ command: unpackProject, id, input })),
    ...removed.map(({ id, actionId }) => ({ command: removeTrigger, id, input: { actionId } })),
    ...automations.map(restored),
    { command: completePrebuilt, id: splitStream(stream).id, input: {} },
  ];
};

export const prebuiltReactions: readonly Reaction[] = [{ of: prebuilt, on: { prebuiltImported: installAll } }];

export const prebuiltKind: Kind = {
  of: prebuilt,
  restore: {
    there: by(importPrebuilt, {
      input: ({ prebuilt }, present) => ({ prebuilt, overwrite: !same(prebuilt, maskSecrets(present?.prebuilt)) }),
      inClear: true,
      method: 'importPrebuilt',
    }),
    deleted: by(importPrebuilt, { input: ({ prebuilt }) => ({ prebuilt }), method: 'importPrebuilt' }),
    more: ({ imported }: PrebuiltState) => ({ prebuilt: imported?.prebuilt }),
  },
};
