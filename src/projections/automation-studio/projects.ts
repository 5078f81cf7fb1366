import type { Members } from '@automation-platform/json';
import { type Component, project } from '../../domain/automation-studio/projects.ts';
import { type Authored, signatureMembers } from '../../domain/engine/authors.ts';
import { withMembers, withoutMembers } from '../../domain/engine/exactMembers.ts';
import { keptWith } from '../../domain/engine/keptDocuments.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, made, projection, touched } from '../engine/define.ts';

/** A component in a list: the members around its document, with the id that it has here. */
type ComponentDoc = Members & { readonly type: string };

export type ProjectDoc = Members &
  Authored & {
    readonly _id: string;
    readonly name: string;
    readonly components: readonly ComponentDoc[];
    readonly members: readonly Members[];
  };

const around: readonly string[] = ['_id', 'components', 'members', ...signatureMembers];

const listed = ({ around: { document: _, ...around }, id }: Component): ComponentDoc =>
  (id === undefined ? around : withMembers(around, { reference: id })) as ComponentDoc; // its schema has a type

const docOf = (
  event: Recorded,
  project: Members,
  components: readonly Component[],
  { created, createdBy, lastUpdated, lastUpdatedBy }: Authored,
): ProjectDoc =>
  keptWith(
    idOf(event),
    withoutMembers(project, (name) => around.includes(name)),
    {
      components: components.map(listed),
      members: [],
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
    projectCreated: (_, event) => docOf(event, event.data.project, [], made(event)),
    projectChanged: (doc, event) =>
      doc && (withMembers(doc, { ...event.data.changed, ...touched(event) }) as ProjectDoc),
    projectImported: (_, event) => docOf(event, event.data.project, event.data.components, event.data),
    projectRestored: (doc, event) =>
      docOf(event, event.data.project, event.data.components, { ...(doc ?? made(event)), ...touched(event) }),
    projectDeleted: () => undefined,
    projectCompleted: (doc) => doc,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: { name: (doc) => doc.name },
});
