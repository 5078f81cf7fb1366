import { whyGone } from '../commands/operations-manager/jobEnds.ts';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import type { Log } from '../concurrency/log.ts';
import type { ReaderPlaces } from '../concurrency/readerPlaces.ts';
import type { Config } from '../config.ts';
import type { EventAccess } from '../http/events/eventAccess.ts';
import { jobReaders as readersOf } from '../http/operations-manager/jobReaders.ts';
import type { ActiveSettings } from '../http/profiles/settings.ts';
import { agentRun } from '../runners/jobs/builtIn/agentRun.ts';
import { commandRun } from '../runners/jobs/builtIn/commandRun.ts';
import { rightsNow } from '../runners/jobs/builtIn/rights.ts';
import { templateRun } from '../runners/jobs/builtIn/templateRun.ts';
import { jobWork } from '../runners/jobs/jobWork.ts';
import type { Node } from './node.ts';
import { retirementOf } from './retirement.ts';
import type { WaysOut } from './waysOut.ts';

type Needs = {
  readonly config: Pick<Config, 'JOB_TIMEOUT' | 'RETENTION_DAYS'>;
  readonly node: Node;
  /** The name of the node. */
  readonly name: string;
  readonly clock: GuardedClock;
  readonly out: Pick<WaysOut, 'renderer' | 'devices'>;
  readonly access: Pick<EventAccess, 'viewerOf'>;
  readonly places: ReaderPlaces;
  readonly settings: Pick<ActiveSettings, 'current' | 'onChange'>;
  readonly log: Log;
};

/**
 * The work on jobs, with the retirement of what has ended, and those who hear of it. Both hear of the node's events.
 */
export const jobsOf = ({ config, node, name, clock, out, access: { viewerOf }, places, settings, log }: Needs) => {
  const { handle, tools, events, retries, model, leadership, settled } = node;
  const gone = whyGone({ model, tools, settled, viewerOf });
  const agents = agentRun({ handle, tools });
  const work = jobWork({
    handle,
    tools,
    events,
    retries,
    model,
    ready: node.run.whenReady,
    leadership,
    clock,
    builtIn: {
      worker: name,
      components: {
        template: templateRun({ tools, renderer: out.renderer }),
        'mop-template': commandRun({ tools, devices: out.devices }),
        agent: agents.run,
      },
      actorOf: rightsNow({ whyGone: gone, viewerOf }),
      atOnce: () => settings.current().jobsAtOnce,
    },
    startLimit: () => settings.current().startLimit,
    whyGone: gone,
    timeoutHours: config.JOB_TIMEOUT,
    log,
  });
  settings.onChange(work.limitsChanged);
  const jobReaders = readersOf({ model, viewerOf, progressOf: work.progressOf, places, log });
  work.onProgress(jobReaders.change);
  node.subscribe({ categories: work.categories, onShown: work.onEvent });
  node.subscribe({ categories: agents.categories, onShown: agents.onEvent });
  node.subscribe({ categories: jobReaders.categories, onShown: jobReaders.onEvent });
  const retiring = retirementOf(node, config, clock, log);
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
