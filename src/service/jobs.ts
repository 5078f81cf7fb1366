import { whyGone } from '../commands/operations-manager/jobEnds.ts';
import type { Config } from '../config.ts';
import type { EventAccess } from '../http/events/eventAccess.ts';
import { jobReaders as readersOf } from '../http/operations-manager/jobReaders.ts';
import type { Node } from '../node.ts';
import { jobWork } from '../runners/jobs/jobWork.ts';
import { retirementOf } from './retirement.ts';

type Needs = {
  readonly config: Pick<Config, 'JOB_TIMEOUT' | 'RETENTION_DAYS'>;
  readonly node: Node;
  readonly access: Pick<EventAccess, 'viewerOf'>;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/**
 * The work on jobs, with the retirement of what has ended, and those who hear of it. Both hear of the node's events.
 */
export const jobsOf = ({ config, node, access: { viewerOf }, log }: Needs) => {
  const { handle, tools, events, retries, model, leadership, settled } = node;
  const work = jobWork({
    handle,
    tools,
    events,
    retries,
    model,
    ready: node.run.whenReady,
    leadership,
    whyGone: whyGone({ model, tools, settled, viewerOf }),
    timeoutHours: config.JOB_TIMEOUT,
    log,
  });
  const jobReaders = readersOf({ model, viewerOf, progressOf: work.progressOf, log });
  work.onProgress(jobReaders.change);
  node.subscribe({ categories: work.categories, onShown: work.onEvent });
  node.subscribe({ categories: jobReaders.categories, onShown: jobReaders.onEvent });
  const retiring = retirementOf(node, config, log);
  const start = (): void => {
    work.start();
    retiring.start();
  };
  const stop = async (): Promise<void> => {
    await retiring.stop();
    await work.stop();
  };
  return { work: { ...work, start, stop }, jobReaders };
};
