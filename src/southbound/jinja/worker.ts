import { parentPort } from 'node:worker_threads';
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

parentPort!.on('message', (work: Work) => parentPort!.postMessage(outcome(work)));
parentPort!.postMessage('ready' satisfies Outcome);
