import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { isSecretOfDocument, type Seal, sealBy } from '../engine/secretFields.ts';
import { nothing, object, topicsOf, typed } from '../engine/topics.ts';
import { readWorkflow, type WorkflowDocument } from './workflows/workflows.ts';

const document = typed<WorkflowDocument>()(object);

const topics = topicsOf({
  workflowCreated: ['A workflow was created', document],
  workflowReplaced: ['A workflow got another content', document],
  workflowRestored: ['A workflow got the content of an imported document', document],
  workflowDeleted: ['A workflow was deleted', nothing],
});
export type WorkflowEvent = EventOf<typeof topics>;

export type WorkflowState = { readonly exists: boolean; readonly content: WorkflowDocument };

const become = (_: WorkflowState, content: WorkflowDocument): WorkflowState => ({ exists: true, content });

/** A workflow: its document as its author wrote it, with sealed secrets. */
export const workflow = aggregate<WorkflowState, WorkflowEvent>({
  area: 'operations-manager',
  category: 'workflow',
  topics,
  initial: { exists: false, content: { name: '', tasks: {}, transitions: {} } },
  evolve: {
    workflowCreated: become,
    workflowReplaced: become,
    workflowRestored: become,
    workflowDeleted: ({ content }) => ({ exists: false, content }),
  },
  exists: (state) => state.exists,
  names: ({ exists, content: { name } }) => (exists ? [{ kind: 'workflow', name }] : []),
});

/** The document with sealed secrets. A mask keeps the secret that is stored in its place. */
export const sealWorkflow = (value: object, { content }: WorkflowState, seal: Seal): object =>
  sealBy(isSecretOfDocument, { value, befores: [content], seal, path: '', keepsEqual: true }) as object;

export const create = (_: WorkflowState, content: object): readonly WorkflowEvent[] => [
  { topic: 'workflowCreated', data: readWorkflow(content) },
];

export const replace = ({ content: former }: WorkflowState, content: object): readonly WorkflowEvent[] =>
  same(former, content) ? [] : [{ topic: 'workflowReplaced', data: readWorkflow(content) }];

/** `referrers`: the automations that name it. */
export const remove = (
  _: WorkflowState,
  __: unknown,
  { refs: { referrers } }: Context<{ readonly referrers: readonly Referrer[] }>,
): readonly WorkflowEvent[] => {
  refuseReferred(referrers, 'deleted');
  return [{ topic: 'workflowDeleted', data: {} }];
};
