import '../../process/soundJson.ts';
import { type Job, newJob, type Template, TemplateError } from '@automation-platform/jinja';
import { evaluate } from '../jsonata/evaluate.ts';
import { compared, evaluateGeneration, evaluateTranslation, specified } from './comparison.ts';
import { evaluateDiff, evaluateFollowing, evaluatePrediction, evaluateWay } from './differences.ts';
import type { Message, Supplied, Work } from './protocol.ts';
import { transformed } from './transformation.ts';

/** The work that waits for templates. */
let waiting: Job | undefined;

const rendered = (message: Template | Supplied): Message['message'] => {
  const job = 'supplied' in message ? waiting : newJob(message);
  // Finished work takes no memory from the next.
  waiting = undefined;
  if (!job) throw new Error('The engine has no work');
  if ('supplied' in message) job.add(message.supplied);
  try {
    const outcome = job.attempt();
    if ('wanted' in outcome) waiting = job;
    return outcome;
  } catch (error) {
    if (error instanceof TemplateError) return { line: error.line, reason: error.message, template: error.template };
    throw error;
  }
};

const answer = (message: Message['message']): void => {
  const { user, system } = process.cpuUsage();
  process.send?.({ message, usedMs: (user + system) / 1000 } satisfies Message);
};

const carriedOn = async (message: Work | Supplied): Promise<Message['message']> => {
  if ('comparisons' in message) return compared(message.comparisons);
  if ('nativeConfig' in message) return evaluateGeneration(message);
  if ('texts' in message) return evaluateTranslation(message);
  if ('deviceType' in message) return specified(message);
  if ('unit' in message) return evaluateDiff(message);
  if ('goal' in message) return evaluateWay(message);
  if ('running' in message) return evaluatePrediction(message);
  if ('after' in message) return evaluateFollowing(message);
  if ('document' in message) return transformed(message);
  // Only an engine that may turn text into code can load it.
  if ('workflow' in message) return (await import('./simulation.ts')).simulated(message);
  return 'expression' in message ? evaluate(message) : rendered(message);
};

// The process ends by itself when the service is gone: then nothing is left to listen to. It also ends by an error that
// nobody expects.
process.on('message', (message: Work | Supplied) => void carriedOn(message).then(answer));
answer('ready');
