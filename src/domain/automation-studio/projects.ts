import { exactEntries, exactNumber, inOrder, isObject, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { type Authored, signatureMembers } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type Gbac, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, nowhere } from '../engine/documentKinds.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { prefixOf } from '../engine/namespaces.ts';
import { RequestError } from '../engine/requestError.ts';
import { anyMembers, authors, flag, nothing, text, topicsOf } from '../engine/topics.ts';
import { type Bundle, type BundleError, part, refuseAll } from '../prebuilts/parts.ts';
import {
  bundleTypeOf,
  type ComponentDocument,
  type NewProject,
  type ProjectDocument,
  type ProjectPatch,
} from './projectSchemas.ts';

const place = { category: text, id: text };

/** The members who are here: accounts by id, groups by name. */
const access = Type.Array(Type.Object({ type: text, id: text, role: text }));
export type ProjectAccess = SchemaData<typeof access>;

/** A member with one of these roles may do this. */
const mayChange = ['owner', 'editor'];
const mayRun = [...mayChange, 'operator'];

/** The access list by which all members read, and those with one of the roles do more. */
const listOf = (members: ProjectAccess, roles: readonly string[]): Gbac => {
  const idsOf = (type: string, some: ProjectAccess) => some.filter((one) => one.type === type).map(({ id }) => id);
  const writers = members.filter(({ role }) => roles.includes(role));
  const of = (type: string) => ({ read: idsOf(type, members), write: idsOf(type, writers) });
  return { ...of('group'), accounts: of('account') };
};

/** The access list of a project itself. */
export const gbacOfProject = (members: ProjectAccess = []): Gbac => listOf(members, ['owner']);
const outcome = Type.Object({ type: text, name: text });

/** A component: a resource, or a document that the project keeps. */
const component = Type.Object({
  /** The members around the document as they came; the document is empty. */
  around: anyMembers,
  /** True if the name came with the project before it. */
  prefixed: flag,
  category: Type.Optional(text),
  id: Type.Optional(text),
  document: Type.Optional(anyMembers),
});
export type Component = SchemaData<typeof component>;

const imported = Type.Object({
  /** The project as it came, without its components, with sealed secrets. */
  project: anyMembers,
  components: Type.Array(component),
  /** The ids that components of the document have elsewhere, by those that they have here. */
  ids: Type.Record(Type.String(), Type.String()),
  /** SHA-256 of the document as canonical JSON with masked secrets, hexadecimal. */
  digest: text,
  /** The documents of the components that are resources, with sealed secrets. */
  bundles: Type.Array(Type.Object({ type: text, data: anyMembers })),
  /** In the order in which they are carried out. Resources that need no change are left out. */
  parts: Type.Array(part),
  /** The resources that the project had and the document has not: they are deleted. */
  removed: Type.Array(Type.Object(place)),
  installed: Type.Array(Type.Object({ ...outcome.properties, _id: text })),
  /** Documents that the project keeps, and resources that were its own and stay because something names them. */
  staying: Type.Array(Type.Object({ ...outcome.properties, reason: text })),
  failed: Type.Array(Type.Object({ ...outcome.properties, code: text, reason: text })),
  /** The account ids of the authors that documents name, by username. */
  accounts: Type.Record(Type.String(), Type.String()),
  access: Type.Optional(access),
  ...authors,
});
export type ProjectImported = SchemaData<typeof imported>;

const deleted = Type.Object({
  /** The resources that are deleted. */
  removed: Type.Array(Type.Object({ ...place, type: text, name: text })),
  staying: Type.Array(Type.Object({ ...outcome.properties, reason: text })),
});
type ProjectDeleted = SchemaData<typeof deleted>;

const formerProject = {
  project: anyMembers,
  components: Type.Array(component),
  ids: imported.properties.ids,
  access: Type.Optional(access),
};

const topics = topicsOf({
  projectCreated: ['A project was made', Type.Object({ project: anyMembers })],
  projectChanged: ['Members of a project changed', Type.Object({ changed: anyMembers, access: Type.Optional(access) })],
  projectImported: ['A project is to be unpacked', imported],
  projectRestored: ['A project became again what it was', Type.Object(formerProject)],
  projectDeleted: ['A project is to be deleted', deleted],
  /** All parts of the last import or deletion are carried out. */
  projectCompleted: ['All that an import or a deletion of a project means is done', nothing],
});
export type ProjectEvent = EventOf<typeof topics>;

type Outcome = Pick<ProjectImported, 'installed' | 'staying' | 'failed'>;

export type ProjectState = {
  readonly exists: boolean;
  /** The project as it was written, without its components, with sealed secrets. */
  readonly project: Members;
  readonly components: readonly Component[];
  readonly ids: ProjectImported['ids'];
  /** None: whoever has the methods may do all. */
  readonly access?: ProjectAccess | undefined;
  /** Of the last import, if the project is as it came. */
  readonly digest?: string | undefined;
  /** When the document says that it was last changed; undefined if the project was not imported. */
  readonly lastUpdated?: string | undefined;
  readonly outcome?: Outcome;
  readonly deletion?: ProjectDeleted;
  /** The parts that are to be carried out; undefined if nothing is under way. */
  readonly pending?: ProjectImported['parts'] | undefined;
};

/** A project: its members, the list of its components, and the decisions to unpack and to delete it. */
export const project = aggregate<ProjectState, ProjectEvent>({
  area: 'automation-studio',
  category: 'project',
  topics,
  initial: { exists: false, project: { name: '' }, components: [], ids: {} },
  evolve: {
    projectCreated: (_, { project }) => ({ exists: true, project, components: [], ids: {} }),
    projectChanged: ({ digest: _, ...state }, { changed, access = state.access }) => ({
      ...state,
      project: withMembers(state.project, changed),
      access,
    }),
    projectImported: (_, data) => {
      const { project, components, ids, digest, lastUpdated, parts, installed, staying, failed, access } = data;
      return {
        exists: true,
        project,
        components,
        ids,
        access,
        digest,
        lastUpdated,
        outcome: { installed, staying, failed },
        pending: parts,
      };
    },
    projectRestored: (_, { project, components, ids, access }) => ({ exists: true, project, components, ids, access }),
    projectDeleted: (state, deletion) => ({ ...state, exists: false, deletion, pending: [] }),
    projectCompleted: ({ pending: _, ...state }) => state,
  },
  gbac: ({ access }) => gbacOfProject(access),
  gbacBelow: ({ access = [] }, use) => listOf(access, use === 'run' ? mayRun : mayChange),
  reservations: ({ pending = [] }) =>
    pending.flatMap(({ category, id, names }) => names.map((name) => ({ owner: `${category}-${id}`, name }))),
});

/** The value with other texts. Names of members stay. */
const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change));
  if (!isObject(value) || exactNumber(value) !== undefined) return value;
  return inOrder(exactEntries(value).map(([name, member]) => [name, withTexts(member, change)]));
};

/** How the documents of a project differ elsewhere: ids there by those here, and the project's id in names. */
type Renaming = { readonly ids: ReadonlyMap<string, string>; readonly from: string; readonly to: string };

/** The document of a component with other ids, and another id of the project before names. */
const renamed = (document: Members, { ids, from, to }: Renaming): Members => {
  if (ids.size === 0 && from === to) return document;
  const [before, after] = [prefixOf(from), prefixOf(to)];
  return withTexts(document, (text) => {
    const id = ids.get(text);
    if (id !== undefined) return id;
    return from !== to && text.startsWith(before) ? after + text.slice(before.length) : text;
  }) as Members;
};

const nameIn = ({ name }: Members): string => (typeof name === 'string' ? name : '');

/** The document of a component as the platform has it: with the project before its name, and with the ids of here. */
export const withProject = (document: Members, renaming: Renaming): Members => {
  const next = renamed(document, renaming);
  const [name, prefix] = [nameIn(next), prefixOf(renaming.to)];
  return name === '' || name.startsWith(prefix) ? next : withMembers(next, { name: prefix + name });
};

/** The document of a component as it came, but for what was changed here. */
export const withoutProject = (
  document: Members,
  id: string,
  prefixed: boolean,
  ids: ProjectImported['ids'],
): Members => {
  const next = renamed(document, { ids: new Map(Object.entries(ids)), from: id, to: id });
  const [name, prefix] = [nameIn(next), prefixOf(id)];
  return prefixed || !name.startsWith(prefix) ? next : withMembers(next, { name: name.slice(prefix.length) });
};

/** The id of a document in a project; undefined if it has none of this service's form. */
export const documentIdIn = (document: Members): string | undefined =>
  [document._id, document.id].find((id): id is string => typeof id === 'string' && /^[0-9a-f]{24}$/.test(id));

/** The id of a component: that of its document, else the reference. */
export const componentIdIn = ({ document, reference }: ComponentDocument): string | undefined =>
  documentIdIn(document) ?? documentIdIn({ _id: reference });

/** The project without the documents of its components, whose place is kept. */
export const withoutComponents = (document: Members): Members => withMembers(document, { components: [] });

/** The members around the document of a component, whose place is kept. */
export const aroundDocument = (component: Members): Members => withMembers(component, { document: {} });

type ConflictMode = 'overwrite' | 'insert-new';

export type ProjectImport = {
  readonly project: ProjectDocument;
  readonly conflictMode?: ConflictMode;
  /** True if one component that cannot be unpacked refuses the project. */
  readonly strict?: boolean;
};

/** The facts about the rest of the platform that an import needs. */
export type ProjectRefs = Pick<
  ProjectImported,
  'project' | 'components' | 'ids' | 'digest' | 'accounts' | 'staying' | 'parts'
> & {
  readonly bundles: readonly Bundle[];
  readonly installed: ProjectImported['installed'];
  readonly removed: ProjectImported['removed'];
  readonly errors: readonly BundleError[];
  readonly failed: ProjectImported['failed'];
  /** True if the document has a secret in clear. Then it counts as other content. */
  readonly bringsSecrets: boolean;
  /** Those members of the document who are here. */
  readonly access: ProjectAccess;
  readonly authors: Authored;
};

const refusePending = ({ pending }: ProjectState): void => {
  if (pending)
    throw new RequestError('unavailable', 'The project is being unpacked or deleted; try again', {
      retryAfterSeconds: 1,
    });
};

/** The members of a project that say what it is. */
const essence = (project: Members): Members =>
  withoutMembers(project, (name) => name === '_id' || (signatureMembers as readonly string[]).includes(name));

/** True if an import of this document would leave the project as it is. */
const isTheSame = (state: ProjectState, refs: ProjectRefs): boolean =>
  refs.parts.length + refs.removed.length + refs.errors.length === 0 &&
  same(essence(state.project), essence(refs.project)) &&
  same(state.components, refs.components);

/** Unpacks a project. The same again is no change; other content replaces what is there only if the mode says so. */
export const decideImport = (
  state: ProjectState,
  { conflictMode, strict = false }: Omit<ProjectImport, 'project'>,
  { refs }: Context<ProjectRefs>,
): readonly ProjectEvent[] => {
  refusePending(state);
  const overwrite = conflictMode === 'overwrite';
  if (state.exists && !overwrite && state.digest === refs.digest && !refs.bringsSecrets) return [];
  // A list stays when a document comes that names nobody who is here: otherwise it would open what was closed.
  const access = refs.access.length > 0 ? refs.access : state.access;
  if (state.exists && isTheSame(state, refs) && same(access, state.access)) return [];
  if (state.exists && !overwrite)
    throw new RequestError('conflict', 'A project with this id is here with other content', { path: '/project/_id' });
  const refusals = refs.errors.map(({ error }) => error);
  if (strict || refs.components.length === 0) refuseAll(refusals);
  const { project, components, ids, digest, bundles, parts, removed, installed, staying, failed, accounts, authors } =
    refs;
  return [
    {
      topic: 'projectImported',
      data: {
        project,
        components,
        ids,
        digest,
        bundles,
        parts,
        removed,
        installed,
        staying,
        failed,
        accounts,
        ...defined({ access }),
        ...authors,
      },
    },
  ];
};

export const create = (_: ProjectState, { name, components: __, ...given }: NewProject): readonly ProjectEvent[] => {
  const about = { description: '', thumbnail: '', backgroundColor: '#FFFFFF', folders: [], ...given };
  return [{ topic: 'projectCreated', data: { project: { name, ...about } } }];
};

/** The members of a change: those who are here, and the places of those who are not. */
export type ProjectPatchRefs = { readonly access: ProjectAccess | undefined; readonly absent: readonly number[] };

/** Omitted members stay as they are. */
export const update = (
  state: ProjectState,
  patch: ProjectPatch,
  { refs: { access, absent } }: Context<ProjectPatchRefs>,
): readonly ProjectEvent[] => {
  refusePending(state);
  const faults = absent.map((i) => ({ message: 'No such account or group', path: `/members/${i}` }));
  if (faults[0]) throw new RequestError('not_found', faults[0].message, { faults });
  if (access && access.length > 0 && !access.some(({ role }) => role === 'owner'))
    throw new RequestError('invalid', 'Members need at least one owner among them', { path: '/members' });
  const changed = Object.fromEntries(
    Object.entries(patch).filter(([name, value]) => !same(value, state.project[name])),
  );
  const news = access && !same(access, state.access ?? []) ? { access } : {};
  if (Object.keys(changed).length === 0 && !('access' in news)) return [];
  return [{ topic: 'projectChanged', data: { changed, ...news } }];
};

export type RestoredProject = Pick<ProjectState, 'project' | 'components' | 'ids' | 'access'>;

/** Gives a project its former members and list. Components that are gone come back by restoring each of them. */
export const restore = (
  state: ProjectState,
  { project, components, ids, access }: RestoredProject,
): readonly ProjectEvent[] => {
  refusePending(state);
  const former = { project, components, ids, ...defined({ access }) };
  const now = { project: state.project, components: state.components, ids: state.ids };
  if (state.exists && same({ ...now, ...defined({ access: state.access }) }, former)) return [];
  return [{ topic: 'projectRestored', data: former }];
};

export const remove = (state: ProjectState, _: unknown, { refs }: Context<ProjectDeleted>): readonly ProjectEvent[] => {
  refusePending(state);
  return [{ topic: 'projectDeleted', data: refs }];
};

/** Runs after all parts of an import or a deletion. */
export const complete = ({ pending }: ProjectState): readonly ProjectEvent[] =>
  pending ? [{ topic: 'projectCompleted', data: {} }] : [];

/** The documents of the components, with the types that they have in packages if there are such. */
export const bundlesIn = (components: readonly ComponentDocument[]): readonly Bundle[] =>
  components.map(({ type, document }) => ({ type: bundleTypeOf(type) ?? type, data: document }));

/** The project with other documents of its components. */
export const withDocuments = (
  project: Members,
  components: readonly ComponentDocument[],
  documents: readonly Members[],
): Members =>
  withMembers(project, {
    components: components.map((one, i) => withMembers(one, { document: documents[i] ?? {} })),
  });

/** The components of what may be a project; none of what is none. */
const componentsIn = ({ components }: Members): readonly ComponentDocument[] =>
  Array.isArray(components) && components.every((one) => isObject(one) && isObject(one.document))
    ? (components as readonly ComponentDocument[])
    : [];

const list = '/automation-studio/projects';

/** Projects of any installation. */
export const projectDocuments: DocumentKind = {
  of: project,
  name: 'project',
  types: ['project'],
  secrets: nowhere,
  inner: {
    of: (document) => bundlesIn(componentsIn(document)),
    replace: (document, inner) => {
      const components = componentsIn(document);
      return components.length > 0 ? withDocuments(document, components, inner) : document;
    },
  },
  is: ({ components, name }) =>
    typeof name === 'string' &&
    Array.isArray(components) &&
    components.every((one) => isObject(one) && typeof one.type === 'string'),
  importing: (document, { overwrite }) => ({
    method: 'POST',
    path: `${list}/import`,
    body: `{"project":${document}${overwrite ? ',"conflictMode":"overwrite"' : ''}}`,
  }),
  ...at(list),
};
