import type { Members } from '@automation-platform/json';
import { type Component, gbacOfProject, type ProjectAccess, project } from '../../domain/automation-studio/projects.ts';
import { type Authored, signatureMembers } from '../../domain/engine/authors.ts';
import { withMembers, withoutMembers } from '../../domain/engine/exactMembers.ts';
import { keptWith } from '../../domain/engine/keptDocuments.ts';
import { projectInName } from '../../domain/engine/namespaces.ts';
import type { Recorded } from '../../store/event.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';
import { followedGuard, listsGuard } from '../engine/guards.ts';

/** A component in a list: the members around its document, with the id that it has here. */
type ComponentDoc = Members & { readonly type: string };

export type ProjectDoc = Members &
  Authored & {
    readonly _id: string;
    readonly name: string;
    readonly components: readonly ComponentDoc[];
    readonly members: ProjectAccess;
  };

const around: readonly string[] = ['_id', 'components', 'members', ...signatureMembers];

const listed = ({ around: { document: _, ...around }, id }: Component): ComponentDoc =>
  (id === undefined ? around : withMembers(around, { reference: id })) as ComponentDoc; // its schema has a type

type Shown = {
  readonly project: Members;
  readonly components?: readonly Component[];
  readonly access?: ProjectAccess | undefined;
};

const docOf = (
  event: Recorded,
  { project, components = [], access = [] }: Shown,
  { created, createdBy, lastUpdated, lastUpdatedBy }: Authored,
): ProjectDoc =>
  keptWith(
    idOf(event),
    withoutMembers(project, (name) => around.includes(name)),
    {
      components: components.map(listed),
      members: access,
      created,
      createdBy,
      lastUpdated,
      lastUpdatedBy,
    },
  ) as ProjectDoc;

/** Projects with the list of their components, without the documents. Authors are ids of accounts. */
export const projects = projection<ProjectDoc>()(project, {
  collection: 'projects',
  on: {
    projectCreated: (_, event) => docOf(event, event.data, authorship(event)),
    projectChanged: (doc, event) => {
      const { changed, access: members = doc?.members } = event.data;
      return doc && (withMembers(doc, { ...changed, members, ...touched(event) }) as ProjectDoc);
    },
    projectImported: (_, event) => docOf(event, event.data, event.data),
    projectRestored: (doc, event) => docOf(event, event.data, { ...(doc ?? authorship(event)), ...touched(event) }),
    projectDeleted: () => undefined,
    projectCompleted: (doc) => doc,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    groups: (doc) => doc.members.flatMap(({ type, id }) => (type === 'group' ? id : [])),
  },
  names: { group: { field: 'groups' } },
  guard: ({ members }) => listsGuard(gbacOfProject(members)),
});

/** The guard of a document that belongs to a project if its name begins with one. */
export const projectGuard = (name: string): string | undefined => {
  const id = projectInName(name);
  return id === undefined ? undefined : followedGuard(projects, id);
};
