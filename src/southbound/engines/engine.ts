import '../../process/soundJson.ts';
import { type Job, newJob, type Template, TemplateError } from '@automation-platform/jinja';
import { evaluate } from '../jsonata/evaluate.ts';
import { compared, evaluateGeneration, evaluateTranslation, specified } from './comparison.ts';
import { evaluateDiff, evaluateFollowing, evaluatePrediction, evaluateWay } from './differences.ts';
import type { Message, Supplied, Work } from './protocol.ts';
import { transformed } from './transformation.ts';

/** The work that waits for templates. */
let waiting: Job | undefined;

const rendered = (given: Template | Supplied): Message => {
  const job = 'supplied' in given ? waiting : newJob(given);
  // Finished work takes no memory from the next.
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

const carriedOn = async (given: Work | Supplied): Promise<Message> => {
  if ('configuration' in given) return compared(given);
  if ('nativeConfig' in given) return evaluateGeneration(given);
  if ('texts' in given) return evaluateTranslation(given);
  if ('deviceType' in given) return specified(given);
  if ('unit' in given) return evaluateDiff(given);
  if ('goal' in given) return evaluateWay(given);
  if ('running' in given) return evaluatePrediction(given);
  if ('after' in given) return evaluateFollowing(given);
  if ('document' in given) return transformed(given);
  // Only an engine that may turn text into code can load it.
  if ('workflow' in given) return (await import('./simulation.ts')).simulated(given);
  return 'expression' in given ? evaluate(given) : rendered(given);
};

// The process ends by itself when the service is gone: then nothing is left to listen to. It also ends by an error that
// nobody expects.
process.on('message', (given: Work | Supplied) => void carriedOn(given).then(answer));
answer('ready');
