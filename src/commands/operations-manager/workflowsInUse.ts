import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { workflow } from '../../domain/operations-manager/workflow.ts';
import type { WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import type { Tools } from '../engine/define.ts';
import { workflowMeant } from './workflows.ts';

/** A workflow at one revision. */
export type FoundWorkflow = { readonly id: string; readonly revision: number; readonly document: WorkflowDocument };

/** The workflow that a name or id means, as it is now; undefined if the platform has none. Throws `conflict` for several. */
export const workflowNamed = async (name: string, actor: Actor, tools: Tools): Promise<FoundWorkflow | undefined> => {
  const id = await workflowMeant(name, tools, actor);
  if (id === undefined) return undefined;
  const { state, revision } = await tools.version(workflow, id);
  return state.exists ? { id, revision, document: state.content } : undefined;
};

/** A workflow as it was at a revision; undefined if it cannot be read. */
export const workflowAt = async (
  { id, revision }: { readonly id: string; readonly revision: number },
  tools: Tools,
): Promise<WorkflowDocument | undefined> => {
  try {
    return (await tools.version(workflow, id, revision)).state.content;
  } catch (error) {
    if (error instanceof RequestError && error.code === 'internal') return undefined;
    throw error;
  }
};
