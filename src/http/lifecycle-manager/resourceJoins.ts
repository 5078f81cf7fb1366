import type { Authored } from '../../domain/engine/authors.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { actionExecutions, type ExecutionDoc } from '../../projections/lifecycle-manager/actionExecutions.ts';
import { lastActions } from '../../projections/lifecycle-manager/lastActions.ts';
import type { ResourceGroupDoc } from '../../projections/lifecycle-manager/resourceGroups.ts';
import type { InstanceDoc } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { authorObjects } from '../authorization/people.ts';
import type { Join } from '../engine/route.ts';

const signed = async <D extends Authored>(doc: D, model: ReadModel) => {
  const author = await authorObjects(model, [doc.createdBy, doc.lastUpdatedBy]);
  return { ...doc, createdBy: author(doc.createdBy), lastUpdatedBy: author(doc.lastUpdatedBy) };
};

/** The document with the last action that was run on it, if any. */
const withLastAction = async <D extends { readonly _id: string }>(doc: D, model: ReadModel) => {
  const found = await documentOf(model, lastActions, doc._id);
  if (!found) return doc;
  const { started: _, ...lastAction } = found;
  return { ...doc, lastAction };
};

/** Shows authors as objects. */
export const shownModel: Join<Authored> = (doc, { model }) => signed(doc, model);

/** Shows authors as objects, secrets masked, and the last action. */
export const shownInstance: Join<InstanceDoc> = async (doc, { model }) =>
  maskSecrets(await withLastAction(await signed(doc, model), model));

/** Shows authors as objects, and the last action; leaves out `members`. */
export const shownGroup: Join<ResourceGroupDoc> = async ({ members: _, ...doc }, { model }) =>
  withLastAction(await signed(doc, model), model);

/** Shows the author as an object, and secrets masked. */
export const shownExecution: Join<ExecutionDoc> = async ({ automation: _, ...doc }, { model }) =>
  maskSecrets({ ...doc, createdBy: (await authorObjects(model, [doc.createdBy]))(doc.createdBy) });

/** Shows the execution as it is after the reactions to the request: its jobs may have ended by then. */
export const executionNow: Join<ExecutionDoc> = async (doc, service, call) => {
  // If the read models are behind, the answer shows the document that the command has stored.
  const now = await service.tools
    .find(actionExecutions, doc._id)
    .then((id) => (id === undefined ? undefined : documentOf(service.model, actionExecutions, id)))
    .catch(() => undefined);
  return shownExecution(now ?? doc, service, call);
};
