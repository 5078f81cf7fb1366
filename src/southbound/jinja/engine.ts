import '../../soundJson.ts';
import { TemplateError } from './errors.ts';
import type { Outcome, Work } from './protocol.ts';
import { renderTemplate } from './render.ts';

const outcome = ({ template, variables }: Work): Outcome => {
  try {
    return { text: renderTemplate(template, variables) };
  } catch (error) {
    if (error instanceof TemplateError) return { line: error.line, reason: error.message };
    throw error;
  }
};

const answer = (given: Outcome): void => {
  process.send?.(given);
};

// The process ends by itself when the service is gone, because the channel to the service was all that kept it alive.
process.on('message', (work: Work) => answer(outcome(work)));
answer('ready');
