import { exactText, type Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import {
  createProject,
  deleteProject,
  importProject,
  projectMeant,
  updateProject,
} from '../../commands/automation-studio/projects.ts';
import { kindOf } from '../../commands/kinds.ts';
import { missingFor } from '../../commands/operations-manager/readiness.ts';
import {
  bundleTypeOf,
  type ProjectDocument,
  projectDeletedSchema,
  projectDocumentSchema,
  projectImportedSchema,
  projectSchema,
  projectSummarySchema,
} from '../../domain/automation-studio/projectSchemas.ts';
import {
  type Component,
  documentIdIn,
  type ProjectState,
  project,
  withoutProject,
} from '../../domain/automation-studio/projects.ts';
import { defined } from '../../domain/engine/defined.ts';
import { withMembers } from '../../domain/engine/exactMembers.ts';
import { maskDocument } from '../../domain/engine/importedSecrets.ts';
import { maskBundle } from '../../domain/prebuilts/prebuiltSecrets.ts';
import { type ProjectDoc, projects } from '../../projections/automation-studio/projects.ts';
import { readableDocuments } from '../../projections/engine/documents.ts';
import { groupsNamed, people, signed } from '../authorization/people.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import { exportedDocument } from '../engine/imports.ts';
import { readinessOf, readinessSchema } from '../engine/readiness.ts';
import type { AreaRoutes, Call, Join } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped, wordsSchema } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

const list = '/projects';
const path = `${list}/:id`;

/** A component that is there, and that the caller may read, with its document as it is now. */
type Present = { readonly component: Component; readonly document: Members };

const keyOf = ({ category, id }: Pick<Component, 'category' | 'id'>): string => `${category}-${id}`;

/** The components with what `show` makes of their documents. Those that are gone or hidden are left out. */
const presentOf = async (
  components: readonly Component[],
  show: (component: Component, view: Members) => Promise<Members>,
  service: Service,
  call: Pick<Call, 'actor'>,
): Promise<readonly Present[]> => {
  const documents = new Map<string, Members>();
  for (const category of new Set(components.flatMap(({ category = [] }) => category))) {
    const kind = kindOf(category);
    const collection = kind && service.collectionOf(kind.of);
    if (!collection) continue;
    const ids = components.flatMap((one) => (one.category === category && one.id !== undefined ? [one.id] : []));
    const found = await readableDocuments(service.model, collection, ids, call.actor);
    for (const document of found as readonly { readonly _id: string }[])
      documents.set(keyOf({ category, id: document._id }), document);
  }
  const present: Present[] = [];
  for (const component of components) {
    const stored = component.document ?? documents.get(keyOf(component));
    if (stored) present.push({ component, document: await show(component, stored) });
  }
  return present;
};

/** A document with masked secrets, and usernames in the place of its authors' ids. */
const viewOf = async (
  { around: { type }, document }: Component,
  stored: Members,
  service: Service,
  call: Call,
): Promise<Members> => {
  const data = document ? stored : ((await signed(stored as never, service, call)) as Members); // it has authors
  return maskBundle({ type: bundleTypeOf(String(type)) ?? String(type), data }).data;
};

/** The members with their names of now. An account that is deleted keeps its name. */
const shownMembers = async ({ members }: ProjectDoc, { model }: Service): Promise<readonly Members[]> => {
  const idsOf = (type: string): readonly string[] => members.flatMap((one) => (one.type === type ? one.id : []));
  const [accounts, groups] = await Promise.all([people(model, idsOf('account')), groupsNamed(model, idsOf('group'))]);
  return members.map(({ type, id, role }) => {
    if (type === 'group') {
      const { _id: reference = id, provenance = '' } = groups.get(id) ?? {};
      return { type, reference, provenance, name: id, role };
    }
    const { username = id, provenance = '' } = accounts.get(id) ?? {};
    return { type, reference: id, provenance, username, name: username, role };
  });
};

const summaryOf: Join<ProjectDoc> = async (doc, service, call) => {
  const view = maskDocument(await signed(doc, service, call)) as Members;
  return doc.members.length === 0 ? view : withMembers(view, { members: await shownMembers(doc, service) });
};

/** A project with its components as they are now. */
const showProject: Join<ProjectDoc> = async (doc, service, call) => {
  const { components } = await service.tools.state(project, doc._id);
  const present = await presentOf(
    components,
    (component, stored) => viewOf(component, stored, service, call as Call),
    service,
    call,
  );
  return withMembers((await summaryOf(doc, service, call)) as Members, {
    components: present.map(({ component: { around, id }, document }) => ({
      ...around,
      ...defined({ reference: id }),
      name: document.name,
      document,
    })),
  });
};

/** A project as it came, but for what was changed here. */
const exportedProject = async (doc: ProjectDoc, service: Service, call: Call): Promise<Members> => {
  const { project: header, components, ids, lastUpdated } = await service.tools.state(project, doc._id);
  const show = async (component: Component, stored: Members): Promise<Members> => {
    const view = await viewOf(component, stored, service, call);
    const aggregate = kindOf(component.category ?? '')?.of;
    if (!aggregate || component.id === undefined) return view;
    const words = 'imported' as const;
    const document = await exportedDocument({ aggregate, id: component.id, view, words }, service);
    return withoutProject(document, doc._id, component.prefixed, ids);
  };
  const present = await presentOf(components, show, service, call);
  const {
    created,
    createdBy,
    lastUpdated: changed,
    lastUpdatedBy,
    _id,
  } = (await signed(doc, service, call)) as ProjectDoc;
  const isMade = lastUpdated === undefined;
  const news = {
    components: present.map(({ component: { around }, document }) => withMembers(around, { document })),
    ...(isMade && { created, createdBy }),
    ...(lastUpdated !== changed && { lastUpdated: changed, lastUpdatedBy }),
  };
  const whole = withMembers(maskDocument(header) as Members, news);
  return isMade ? withMembers({ _id }, whole) : whole;
};

const options = {
  conflictMode: Type.Optional(
    Type.Enum(['overwrite', 'insert-new'], {
      description:
        'Of other content under the id of a project that is here: overwrite replaces it, insert-new makes another ' +
        'project, with new ids; without it that is 409',
    }),
  ),
  strict: Type.Optional(
    Type.Boolean({ description: 'True: one component that cannot be unpacked refuses the project' }),
  ),
  // Other programs send these.
  assignNewReferences: Type.Optional(
    Type.Boolean({ description: 'Means nothing: components get new ids where theirs are taken' }),
  ),
  skipReferenceValidation: Type.Optional(
    Type.Boolean({ description: 'Means nothing: components may name what is not here' }),
  ),
};
const importBody = Type.Object({ project: projectDocumentSchema, ...options }, { additionalProperties: false });

/** The id of the project that the same request has made or changed before. */
const answeredBefore = async (
  document: ProjectDocument,
  fresh: string,
  key: string | undefined,
  { retries }: Service,
): Promise<string | undefined> => {
  if (key === undefined) return undefined;
  for (const id of [fresh, documentIdIn({ _id: document._id })])
    if (id !== undefined && (await retries.answered(project, id, key))) return id;
  return undefined;
};

const importRoute = actionRoute({
  name: 'importProject',
  method: 'post',
  path: `${list}/import`,
  access: ['operators'],
  large: true,
  exact: '*',
  summary: 'Import a project',
  description:
    'Unpacks the components of a project of any installation, as resources whose names begin with the project. What ' +
    'cannot be unpacked is listed in failedComponents, and nothing of it exists; with strict it refuses the whole. The ' +
    'same document again is no change.',
  body: importBody,
  answer: Type.Object({ message: Type.String(), data: projectSummarySchema, metadata: projectImportedSchema }),
  run: async (call, service) => {
    const { project: document, conflictMode, strict = false } = call.body as Static<typeof importBody>;
    const about = requestOf('importProject', call, service);
    const fresh = newId(about.idempotency?.key);
    const id =
      (await answeredBefore(document, fresh, about.idempotency?.key, service)) ??
      (await projectMeant(document, { conflictMode, fresh, actor: call.actor }, service.tools));
    const input = { project: document, strict, ...defined({ conflictMode }) };
    const result = await service.handle(importProject, { ...about, id, input });
    const { outcome } = result.state as ProjectState;
    return {
      text: exactText({
        message: result.changed ? 'Successfully imported project' : 'The project is here already',
        data: await summaryOf(result.doc as ProjectDoc, service, call),
        metadata: {
          total: document.components.length,
          installed: outcome?.installed ?? [],
          kept: outcome?.staying ?? [],
          failedComponents: outcome?.failed ?? [],
        },
      }),
      position: result.position,
      replayed: result.replayed,
    };
  },
});

const deleteRoute = actionRoute({
  name: 'deleteProject',
  method: 'delete',
  path,
  access: ['operators'],
  summary: 'Delete a project',
  description:
    'Its components go with it, but for those that something outside of it names: kept tells why. With components=keep ' +
    'they all stay.',
  query: {
    components: Type.Enum(['delete', 'keep'], { description: 'delete: its components go, too; delete unless given' }),
  },
  answer: Type.Object({
    message: Type.String(),
    data: Type.Object({ _id: Type.String({ description: 'Id' }) }),
    metadata: projectDeletedSchema,
  }),
  run: async (call, service) => {
    const about = requestOf('deleteProject', call, service);
    const again =
      about.idempotency &&
      (await service.retries.find({ aggregate: project, idOrName: call.params.id }, about.idempotency.key));
    const id = again ?? (await service.tools.find(projects, call.params.id)) ?? call.params.id;
    const input = { components: call.query.components ?? 'delete' };
    const { position, replayed, state } = await service.handle(deleteProject, { ...about, id, input });
    const { deletion, components } = state as ProjectState;
    return {
      body: {
        message: 'Successfully deleted project',
        data: { _id: id },
        metadata: {
          total: components.length,
          deletedComponents: (deletion?.removed ?? []).map(({ type, name, id: _id }) => ({ type, name, _id })),
          kept: deletion?.staying ?? [],
        },
      },
      position,
      replayed,
    };
  },
});

/** Projects (docs/projects.md). */
export const projectRoutes: AreaRoutes = {
  area: 'automation-studio',
  prefix: '/automation-studio',
  routes: [
    listRoute({
      name: 'getProjects',
      path: list,
      access: ['operators', 'readers'],
      summary: 'List projects',
      list: projects,
      join: summaryOf,
      envelope: resultsWithMessage('Successfully retrieved projects'),
      answer: enveloped(Type.Array(projectSummarySchema)),
    }),
    commandRoute({
      name: 'createProject',
      method: 'post',
      path: list,
      access: ['operators'],
      summary: 'Create a project',
      description: 'Imports bring its components.',
      command: createProject,
      join: summaryOf,
      envelope: withMessage('Successfully created project'),
      answer: enveloped(projectSummarySchema),
    }),
    importRoute,
    actionRoute({
      name: 'exportProject',
      method: 'get',
      reads: true,
      path: `${path}/export`,
      access: ['operators', 'readers'],
      summary: 'Export a project',
      description:
        'The project as it came, but for what was changed here, which any import takes. Secrets are masked. The words are ' +
        'always those of the document.',
      query: { as: wordsSchema },
      answer: enveloped(projectDocumentSchema),
      run: async (call, service) => {
        const entry = await service.entry(projects, call.params.id, call.actor);
        const doc = JSON.parse(entry.text) as ProjectDoc;
        return {
          text: withMessage('Successfully exported project')(
            exactText(await exportedProject(doc, service, call as Call)),
          ),
          exported: { kind: project.category, id: doc._id },
        };
      },
    }),
    actionRoute({
      name: 'getProjectReadiness',
      method: 'get',
      path: `${path}/readiness`,
      access: ['operators', 'readers'],
      summary: 'Find what a project needs and the platform does not have',
      description: 'As of now: of its components, of those that are gone, and of those that could not be unpacked.',
      answer: readinessSchema,
      run: async ({ params, actor }, { entry, tools }) => {
        const { id } = await entry(projects, params.id, actor);
        const { project: header, components, outcome } = await tools.state(project, id);
        const names = new Map((outcome?.installed ?? []).map((one) => [one._id, one.name]));
        const resources = components.flatMap(({ category, id }) =>
          category === undefined || id === undefined ? [] : [{ category, id, name: names.get(id) ?? id }],
        );
        const stayedOut = (outcome?.failed ?? []).map(({ type, name }) => ({
          in: String(header.name),
          kind: type,
          name,
        }));
        return readinessOf(resources, (one) => missingFor(one, actor, tools), stayedOut);
      },
    }),
    getRoute({
      name: 'getProject',
      path,
      access: ['operators', 'readers'],
      summary: 'Get a project, with its components as they are now',
      get: projects,
      join: showProject,
      envelope: withMessage('Successfully retrieved project'),
      answer: enveloped(projectSchema),
    }),
    commandRoute({
      name: 'updateProject',
      method: 'patch',
      path,
      access: ['operators'],
      summary: 'Change a project',
      description:
        'Members that the body leaves out stay. Members are the access list of the project and of its components (docs/projects.md): ' +
        'with any, others get 404. 404 with the place of a member that is not here.',
      command: updateProject,
      join: summaryOf,
      envelope: withMessage('Successfully updated project'),
      answer: enveloped(projectSummarySchema),
    }),
    deleteRoute,
  ],
};
