import '../../soundJson.ts';
import { TemplateError } from './errors.ts';
import type { Message, Supplied, Work } from './protocol.ts';
import { type Job, newJob } from './render.ts';

/** The work that waits for templates. */
let waiting: Job | undefined;

const carriedOn = (given: Work | Supplied): Message => {
  const job = 'supplied' in given ? waiting : newJob(given);
  // What is done with takes no memory from the next work.
  waiting = undefined;
  if (!job) throw new Error('The engine has no work');
  if ('supplied' in given) job.add(given.supplied);
  try {
    const outcome = job.attempt();
    if ('wanted' in outcome) waiting = job;
    return outcome;
  } catch (error) {
    if (error instanceof TemplateError) return { line: error.line, reason: error.message, template: error.template };
    throw error;
  }
};

const answer = (given: Message): void => {
  process.send?.(given);
};

// The process ends by itself when the service is gone: then nothing is left to listen to.
process.on('message', (given: Work | Supplied) => answer(carriedOn(given)));
answer('ready');
