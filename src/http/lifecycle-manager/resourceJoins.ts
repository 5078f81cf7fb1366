import type { Authored } from '../../domain/engine/authors.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { actionExecutions, type ExecutionDoc } from '../../projections/lifecycle-manager/actionExecutions.ts';
import { lastActions } from '../../projections/lifecycle-manager/lastActions.ts';
import type { ResourceGroupDoc } from '../../projections/lifecycle-manager/resourceGroups.ts';
import type { InstanceDoc } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { authorObjects } from '../authorization/people.ts';
import type { Join } from '../engine/route.ts';

const signed = async <D extends Authored>(doc: D, model: ReadStore) => {
  const author = await authorObjects(model, [doc.createdBy, doc.lastUpdatedBy]);
  return { ...doc, createdBy: author(doc.createdBy), lastUpdatedBy: author(doc.lastUpdatedBy) };
};

/** The document with the last action that was run on it, if one was. */
const withLastAction = async <D extends { readonly _id: string }>(doc: D, model: ReadStore) => {
  const found = await documentOf(model, lastActions, doc._id);
  if (!found) return doc;
  const { started: _, ...lastAction } = found;
  return { ...doc, lastAction };
};

/** Authors as objects. */
export const shownModel: Join<Authored> = (doc, { model }) => signed(doc, model);

/** Authors as objects, secrets masked, with the last action. */
export const shownInstance: Join<InstanceDoc> = async (doc, { model }) =>
  maskSecrets(await withLastAction(await signed(doc, model), model));

/** A group of instances as answers show it. */
export const shownGroup: Join<ResourceGroupDoc> = async ({ members: _, ...doc }, { model }) =>
  withLastAction(await signed(doc, model), model);

/** The author as an object, secrets masked. */
export const shownExecution: Join<ExecutionDoc> = async (doc, { model }) =>
  maskSecrets({ ...doc, createdBy: (await authorObjects(model, [doc.createdBy]))(doc.createdBy) });

/** The same as it is once everything that follows from the request is through: jobs may have ended by then. */
export const executionNow: Join<ExecutionDoc> = async (doc, service, call) => {
  // What is stored is answered, also when the read models are behind.
  const now = await service.tools
    .find(actionExecutions, doc._id)
    .then((id) => (id === undefined ? undefined : documentOf(service.model, actionExecutions, id)))
    .catch(() => undefined);
  return shownExecution(now ?? doc, service, call);
};
