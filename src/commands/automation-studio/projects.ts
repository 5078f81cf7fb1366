import { hash } from 'node:crypto';
import { oneByOne } from '@automation-platform/concurrency';
import { canonical, type Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import {
  bundleTypeOf,
  memberRoles,
  newProjectSchema,
  type ProjectDocument,
  projectDocumentSchema,
  projectPatchSchema,
} from '../../domain/automation-studio/projectSchemas.ts';
import {
  aroundDocument,
  bundlesIn,
  type Component,
  complete,
  componentIdIn,
  create,
  decideImport,
  documentIdIn,
  gbacOfProject,
  type ProjectEvent,
  type ProjectImport,
  type ProjectImported,
  type ProjectRefs,
  type ProjectState,
  project,
  type RestoredProject,
  remove,
  restore,
  update,
  withDocuments,
  withoutComponents,
  withoutProject,
  withProject,
} from '../../domain/automation-studio/projects.ts';
import { authorsOf } from '../../domain/engine/authors.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { hasClearSecret, maskDocument, sealDocument } from '../../domain/engine/importedSecrets.ts';
import { asideIn } from '../../domain/engine/keptDocuments.ts';
import { prefixOf } from '../../domain/engine/namespaces.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { installedKinds } from '../../domain/kinds.ts';
import type { BundleError } from '../../domain/prebuilts/parts.ts';
import { type Bundle, isHeld } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { isClear, maskBundle, sealKept } from '../../domain/prebuilts/prebuiltSecrets.ts';
import { matching } from '../../domain/prebuilts/prebuilts.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { accountIds } from '../authorization/authors.ts';
import { membersHere } from '../authorization/members.ts';
import { isHidden, mayRead } from '../engine/access.ts';
import { refuseAbove, refuseAccess } from '../engine/decide.ts';
import { commandsOf, type Preparing, type Tools } from '../engine/define.ts';
import { always, by, documentCheck, type Kind, partCommand } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { kindOf } from '../kinds.ts';
import type { Draft } from '../prebuilts/prebuiltDrafts.ts';
import { partOf, planOf } from '../prebuilts/prebuiltPlans.ts';

const command = commandsOf(project);

/** The locks of decisions on many components at once, which may go. */
export const componentLocks = (): readonly string[] => {
  const ofKinds = [...installedKinds.values()].flatMap(
    ({ of }) => kindOf(of.category)?.remove?.locks?.(of.initial, {}, '') ?? [],
  );
  return [importing, ...new Set(ofKinds)];
};

type Seen = Pick<ProjectRefs, 'digest' | 'bringsSecrets'>;

/** A digest of the document with masked secrets, and whether any secret is in clear. Other requests run in between. */
const seenIn = async (source: ProjectDocument): Promise<Seen> => {
  const around = withoutComponents(source);
  const parts = await oneByOne([...bundlesIn(source.components).entries()], ([i, bundle]) => ({
    text: canonical([aroundDocument(source.components[i] ?? {}), maskBundle(bundle)]),
    clear: isClear(bundle),
  }));
  const texts = [canonical(maskDocument(around)), ...parts.map(({ text }) => text)];
  return {
    digest: hash('sha256', texts.join('\n'), 'hex'),
    bringsSecrets: hasClearSecret(around) || parts.some(({ clear }) => clear),
  };
};

/** `earlier`: the versions of a component, by its index, in the package that brought the project before. */
type Request = Preparing<ProjectState, ProjectImport, Seen> & {
  readonly earlier?: (bundle: Bundle, index: number) => readonly Bundle['data'][];
};

const nameOf = ({ name }: Members): string => (typeof name === 'string' ? name : '');

/**
 * New ids for components whose ids other resources have. A resource is the project's own if the project lists it, or if it
 * has the name that the component gets.
 */
const otherIds = async (
  { input, state, id, actor, newId }: Request,
  tools: Tools,
): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  for (const [i, one] of input.project.components.entries()) {
    const came = componentIdIn(one);
    const kind = kindOfType(one.type);
    if (came === undefined || !kind) continue;
    const listed = state.components.find(
      (mine) => mine.category === kind.of.category && (mine.id === came || state.ids[mine.id ?? ''] === came),
    );
    if (listed?.id !== undefined) {
      if (listed.id !== came) found.set(came, listed.id);
      continue;
    }
    const there: { readonly content?: { readonly name?: string } } = await tools.state(kind.of, came);
    if (!kind.of.exists(there) && !(await isHidden({ of: kind.of, id: came }, actor, tools))) continue;
    const name = nameOf(withProject(one.document, { ids: new Map(), from: fromId(input.project, id), to: id }));
    if (there.content?.name !== name) found.set(came, newId(`component ${i}`));
  }
  return found;
};

/** The category of the resources of a type of documents in packages. */
const categoryOf = (bundleType: string): string | undefined => installedKinds.get(bundleType)?.of.category;

const kindOfType = (type: string): Kind | undefined => {
  const bundleType = bundleTypeOf(type);
  return bundleType === undefined ? undefined : kindOf(categoryOf(bundleType) ?? '');
};

/** The id that the project has in its own document. */
const fromId = (source: ProjectDocument, id: string): string => documentIdIn({ _id: source._id }) ?? id;

/** A resource of a project. */
type Place = { readonly category: string; readonly id: string };

type Leaving = Pick<Request, 'actor' | 'now' | 'newId'>;

const streamOf = ({ category, id }: Place): string => `${category}-${id}`;

/** The data of a deletion without the referrers that go as well. */
const withoutLeaving = (refs: unknown, leaving: ReadonlySet<string>): unknown => {
  const { referrers } = (refs ?? {}) as { readonly referrers?: readonly Referrer[] };
  if (!referrers) return refs;
  const staying = referrers.filter(({ stream }) => stream === undefined || !leaving.has(stream));
  return { ...(refs as object), referrers: staying };
};

/**
 * Why a resource cannot be deleted with its project; undefined if it can, or is gone already. `leaving`: the streams of the
 * resources that go with it, which may refer to it.
 */
const whyItStays = async (
  { category, id }: Place,
  leaving: ReadonlySet<string>,
  { actor, now, newId }: Leaving,
  tools: Tools,
): Promise<{ readonly name: string; readonly reason: string | undefined } | undefined> => {
  const kind = kindOf(category);
  if (!kind?.remove) return undefined;
  const state = await tools.state(kind.of, id);
  if (!kind.of.exists(state)) return undefined;
  const name = kind.of.names?.(state)[0]?.name ?? id;
  const all = await kind.remove.prepare?.({ id, input: {}, state, actor, now, newId, precomputed: undefined }, tools);
  const refs = withoutLeaving(all, leaving);
  try {
    refuseAccess(kind.remove, { state, refs, actor });
    await refuseAbove(kind.remove, { state, actor }, tools);
    kind.remove.decide(state, {}, { id, now, actor, newId, refs });
    return { name, reason: undefined };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { name, reason: error.message };
  }
};

/** Says for each resource why it stays. One that stays keeps those that it refers to. */
const checkLeaving = async <One extends Place>(places: readonly One[], request: Leaving, tools: Tools) => {
  for (let leaving = new Set(places.map(streamOf)); ; ) {
    const checked = await oneByOne(places, async (one) => ({
      one,
      why: await whyItStays(one, leaving, request, tools),
    }));
    const next = new Set(checked.filter(({ why }) => !why?.reason).map(({ one }) => streamOf(one)));
    if (next.size === leaving.size) return checked;
    leaving = next;
  }
};

const resourcesIn = (components: readonly Component[]): readonly (Place & { readonly type: string })[] =>
  components.flatMap(({ category, id, around }) =>
    category === undefined || id === undefined ? [] : [{ category, id, type: String(around.type) }],
  );

/** The document that the project keeps under the number of a component: its masked secrets stay. */
const keptBefore = ({ components }: ProjectState, { iid }: Members): readonly Members[] =>
  components.flatMap(({ document, around }) => (document && around.iid === iid ? [document] : []));

type Renaming = Parameters<typeof withProject>[1];

/** The resources that an import makes or changes, and the components that it refuses. */
type Planned = Pick<ProjectRefs, 'parts' | 'installed' | 'bundles'> &
  Pick<Awaited<ReturnType<typeof planOf>>, 'added' | 'reserved'> & {
    readonly errors: readonly BundleError[];
    /** The places of the planned components among those that are planned, by their indexes in the document. */
    readonly placeOf: ReadonlyMap<number, number>;
  };

/** Plans the components that are resources. */
const planComponents = async (request: Request, renaming: Renaming, tools: Tools): Promise<Planned> => {
  const { input, actor, now, newId, earlier } = request;
  const { components } = input.project;
  const ofKinds = [...bundlesIn(components).entries()].filter(([i]) => bundleTypeOf(components[i]?.type ?? ''));
  const resources = ofKinds.filter(([, { type }]) => isHeld(type));
  const indexOf = (place: number): number => resources[place]?.[0] ?? -1;
  const { plan, sealed, errors, added, reserved } = await planOf(
    {
      actor,
      now,
      newId,
      bundles: resources.map(([, { type, data }]) => ({ type, data: withProject(data, renaming) })),
      overwrite: input.conflictMode === 'overwrite',
      // They match as they came: here they have other names and ids.
      installedAs: ({ type }, place) =>
        earlier?.({ type, data: components[indexOf(place)]?.document ?? {} }, indexOf(place)) ?? [],
      freshId: (place) => {
        const component = components[indexOf(place)];
        const came = component && componentIdIn(component);
        return came === undefined ? undefined : (renaming.ids.get(came) ?? came);
      },
      pathOf: (place) => `/project/components/${indexOf(place)}/document`,
    },
    tools,
  );
  const refused: BundleError[] = [
    ...errors.map(({ index, error }) => ({ index: indexOf(index), error })),
    ...ofKinds.filter(([, { type }]) => !isHeld(type)).map(([index]) => notHeld(index)),
  ].sort((a, b) => a.index - b.index);
  const indexes = resources.map(([i]) => i).filter((i) => !refused.some(({ index }) => index === i));
  return {
    parts: plan.parts,
    bundles: sealed,
    installed: plan.installed.map((one, place) => ({ ...one, type: components[indexes[place] ?? -1]?.type ?? '' })),
    errors: refused,
    placeOf: new Map(indexes.map((i, place) => [i, place])),
    added,
    reserved,
  };
};

/** The components that the project gets: resources, and documents that it keeps. */
const componentsOf = (
  { input: { project: source }, state }: Request,
  { from }: Renaming,
  { errors, placeOf, installed }: Planned,
  { seal }: Tools,
): readonly Component[] => {
  const isRefused = new Set(errors.map(({ index }) => index));
  return [...source.components.entries()].flatMap(([i, one]): readonly Component[] => {
    if (isRefused.has(i)) return [];
    const around = aroundDocument(one);
    const place = placeOf.get(i);
    if (place === undefined) {
      const document = sealKept({ type: one.type, data: one.document }, keptBefore(state, one), seal).data;
      return [{ around, prefixed: true, document }];
    }
    const at = installed[place];
    const prefixed = nameOf(one.document).startsWith(prefixOf(from));
    return at ? [{ around, prefixed, category: kindOfType(one.type)?.of.category ?? '', id: at._id }] : [];
  });
};

type Outcomes = ProjectRefs['staying'];

/** The resources that go, and what stays: those that something names, each with the reason. */
const leavingOf = async (
  places: ReturnType<typeof resourcesIn>,
  request: Pick<Request, 'actor' | 'now' | 'newId'>,
  tools: Tools,
): Promise<{
  readonly removed: readonly (ReturnType<typeof resourcesIn>[number] & { readonly name: string })[];
  readonly staying: Outcomes;
}> => {
  const checked = await checkLeaving(places, request, tools);
  return {
    removed: checked.flatMap(({ one, why }) => (why && !why.reason ? [{ ...one, name: why.name }] : [])),
    staying: checked.flatMap(({ one: { type }, why }) =>
      why?.reason ? [{ type, name: why.name, reason: why.reason }] : [],
    ),
  };
};

const preparing = async (request: Request, tools: Tools): Promise<ProjectRefs> => (await planning(request, tools)).refs;

/** The facts about the rest of the platform, and the plan of the components. */
const planning = async (
  request: Request,
  tools: Tools,
): Promise<{ readonly refs: ProjectRefs; readonly plan: Planned }> => {
  const { input, state, id, actor, now, newId, precomputed } = request;
  const { project: source } = input;
  const about = asideIn(source);
  const renaming = { ids: await otherIds(request, tools), from: fromId(source, id), to: id };
  const plan = await planComponents(request, renaming, tools);
  const { parts, bundles, installed, errors } = plan;
  const components = componentsOf(request, renaming, plan, tools);
  const former = resourcesIn(state.components).filter(
    (mine) => !components.some(({ category, id }) => category === mine.category && id === mine.id),
  );
  const { removed, staying } = await leavingOf(former, request, tools);
  const named = (i: number) => ({
    type: source.components[i]?.type ?? '',
    name: nameOf(source.components[i]?.document ?? {}),
  });
  const accounts = await accountIds([about, ...source.components.map(({ document }) => asideIn(document))], tools);
  const header = withoutComponents(renaming.from === id ? source : { ...source, _id: id });
  const refs: ProjectRefs = {
    ...precomputed,
    project: sealDocument(header, [state.project], tools.seal),
    components,
    ids: renaming.from === id ? Object.fromEntries([...renaming.ids].map(([came, here]) => [here, came])) : {},
    accounts,
    bundles,
    parts,
    removed: removed.map(({ category, id }) => ({ category, id })),
    installed,
    staying: [
      ...components.flatMap(({ around, document }) =>
        document ? [{ type: String(around.type), name: nameOf(document), reason: keptReason }] : [],
      ),
      ...staying,
    ],
    errors,
    failed: errors.map(({ index, error: { code, message } }) => ({ ...named(index), code, reason: message })),
    access: (await membersHere(source.members, memberRoles, tools)).filter((one) => one !== undefined),
    authors: authorsOf(about, accounts, { id, now, actor, newId, refs: undefined }),
  };
  return { refs, plan };
};

const keptReason = 'The platform has no resources of this type; the document is in the project';

const notHeld = (index: number): BundleError => ({
  index,
  error: new RequestError('unprocessable', 'The platform has no resources of this type yet', {
    path: `/project/components/${index}/type`,
  }),
});

/** Decides to unpack a project; the reactions below carry it out. */
export const importProject = command({
  name: 'importProject',
  input: Type.Object({
    project: projectDocumentSchema,
    conflictMode: Type.Optional(Type.Enum(['overwrite', 'insert-new'])),
    strict: Type.Optional(Type.Boolean()),
  }),
  on: 'any',
  precompute: ({ project }): Promise<Seen> => seenIn(project),
  locks: componentLocks,
  prepare: (request, tools) => preparing(request, tools),
  decide: decideImport,
});

const checkProject = documentCheck(importProject, 'project', '/project');

/** The project as it came, with sealed secrets. */
const sealedSource = (
  { input: { project: source }, state, id }: Request,
  { refs, plan }: Awaited<ReturnType<typeof planning>>,
  before: Members | undefined,
  { seal }: Tools,
): Members => {
  const documents = source.components.map((one, i) => {
    const place = plan.placeOf.get(i);
    const installed = place === undefined ? undefined : plan.bundles[place];
    const prefixed = nameOf(one.document).startsWith(prefixOf(id));
    if (installed) return withoutProject(installed.data, id, prefixed, refs.ids);
    return sealKept({ type: one.type, data: one.document }, keptBefore(state, one), seal).data;
  });
  const header = sealDocument(withoutComponents(source), [before, state.project], seal);
  return withDocuments(header, source.components, documents);
};

/** Plans a project of a package: its components, and the import that its stream gets. */
export const planProject = async (draft: Draft, bundle: Bundle, index: number): Promise<void> => {
  const { request: outer, world, reserve } = draft;
  const { actor, now, overwrite, pathOf } = outer;
  checkProject(bundle.data);
  const source = bundle.data as ProjectDocument;
  const newId = (word: string): string => outer.newId(`project ${index} ${word}`);
  // Names of projects are not unique: one that comes without an id is made anew.
  const id = documentIdIn({ _id: source._id }) ?? newId('project');
  const state = await world.state(project, id);
  const [before] = outer.installedAs(bundle, index);
  const earlier = before && matching(bundlesIn((before as ProjectDocument).components));
  const request: Request = {
    input: { project: source, ...(overwrite && { conflictMode: 'overwrite' }) },
    state,
    id,
    actor,
    now,
    newId,
    precomputed: await seenIn(source),
    ...defined({ earlier }),
  };
  const planned = await planning(request, world);
  const { refs, plan } = planned;
  refuseAccess(importProject, { state, refs, actor });
  const [event] = decideImport(state, request.input, { id, now, actor, newId, refs });
  reserve(index, [`project-${id}`, ...plan.reserved()]);
  for (const one of plan.added) draft.add(one);
  const { components } = draft;
  const typeIn = (type: string): string => bundleTypeOf(type) ?? type;
  const installed = event ? plan.installed : (state.outcome?.installed ?? []);
  components.installed.push(...installed.map((one) => ({ ...one, type: typeIn(one.type) })));
  for (const { index: i, error } of event ? refs.errors : [])
    components.refused.push({
      type: typeIn(source.components[i]?.type ?? ''),
      name: nameOf(source.components[i]?.document ?? {}),
      within: source.name,
      code: error.code,
      path: (error.faults[0]?.path ?? '').replace(/^\/project/, pathOf(index)),
      reason: error.message,
    });
  draft.sealed[index] = { ...bundle, data: sealedSource(request, planned, before, draft.tools) };
  draft.installed[index] = { type: bundle.type, _id: id, name: source.name };
  if (event?.topic === 'projectImported')
    draft.parts.push({ category: project.category, id, names: [], bundle: index, content: event.data });
};

/** Imports a project as a package has planned it. */
export const unpackProject = partCommand<ProjectState, ProjectEvent, ProjectImported>(project, (_, data) => [
  { topic: 'projectImported', data },
]);

type ImportOptions = {
  readonly conflictMode: ProjectImport['conflictMode'];
  readonly fresh: string;
  readonly actor: Actor;
};

/**
 * The id of the project that an import makes or changes: that of its document if it is free, or if the project with it may
 * be meant; else a new one. One that the actor may not read is never meant by `insert-new`.
 */
export const projectMeant = async (
  source: ProjectDocument,
  { conflictMode, fresh, actor }: ImportOptions,
  { state }: Tools,
): Promise<string> => {
  const came = documentIdIn({ _id: source._id });
  if (came === undefined) return fresh;
  if (conflictMode !== 'insert-new') return came;
  const { exists, digest, access } = await state(project, came);
  if (!mayRead(actor, gbacOfProject(access))) return fresh;
  return exists && digest !== (await seenIn(source)).digest ? fresh : came;
};

export const createProject = command({ name: 'createProject', input: newProjectSchema, on: 'new', decide: create });
export const updateProject = command({
  name: 'updateProject',
  input: projectPatchSchema,
  on: 'existing',
  decide: update,
  prepare: async ({ input: { members } }, tools) => {
    const found = members && (await membersHere(members, memberRoles, tools));
    return {
      access: found?.filter((one) => one !== undefined),
      absent: (found ?? []).flatMap((one, i) => (one ? [] : i)),
    };
  },
});

const deletion = Type.Object({ components: Type.Enum(['delete', 'keep']) });

/** Decides to delete a project. Components that documents outside of it name stay. */
export const deleteProject = command({
  name: 'deleteProject',
  input: deletion,
  on: 'existing',
  locks: componentLocks,
  decide: remove,
  prepare: async (request: Preparing<ProjectState, Static<typeof deletion>>, tools) => {
    const { input, state } = request;
    return leavingOf(input.components === 'delete' ? resourcesIn(state.components) : [], request, tools);
  },
});

const completeProject = command({ name: 'completeProject', on: 'any', decide: complete });

/** Deletes a resource as part of a decision. It rejects nothing. */
const removal = ({ category, id }: Place): readonly Next[] => {
  const kind = kindOf(category);
  const { remove } = kind ?? {};
  if (!kind || !remove) return [];
  const part = partCommand(kind.of, (state, _: unknown, context) =>
    kind.of.exists(state) ? remove.decide(state, {}, { ...context, refs: { referrers: [] } }) : [],
  );
  return [{ command: { ...part, name: `remove ${category}` }, id, input: {} }];
};

const finish = (stream: string): Next => ({ command: completeProject, id: splitStream(stream).id, input: {} });

export const projectReactions: readonly Reaction[] = [
  {
    of: project,
    on: {
      projectImported: async ({ stream, data, metadata: { at } }: Recorded<ProjectImported>) => [
        ...data.removed.flatMap(removal),
        ...data.parts.map((part) => partOf(part, { bundles: data.bundles, accounts: data.accounts, at })),
        finish(stream),
      ],
      projectDeleted: async ({ stream, data }: Recorded<{ readonly removed: readonly Place[] }>) => [
        ...data.removed.flatMap(removal),
        finish(stream),
      ],
    },
  },
];

const restoreProject = command({
  name: 'restoreProject',
  input: Type.Unsafe<RestoredProject>({}),
  on: 'any',
  decide: restore,
  seal: ({ project, components, ...rest }, state: ProjectState, seal) => ({
    project: sealDocument(project, [state.project], seal),
    components: components.map((one) => {
      if (!one.document) return one;
      const bundle = { type: String(one.around.type), data: one.document };
      return { ...one, document: sealKept(bundle, keptBefore(state, one.around), seal).data };
    }),
    ...rest,
  }),
});

export const projectKind: Kind = {
  of: project,
  restore: {
    ...always(
      by(restoreProject, {
        input: ({ project, parts: components, ids, access }) => ({ project, components, ids, access }),
        method: 'importProject',
      }),
    ),
    more: ({ project, components, ids, access }: ProjectState) => ({ project, parts: components, ids, access }),
  },
};
