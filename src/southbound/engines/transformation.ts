import { planTransformation, randomOf, runTransformation } from '@automation-platform/transformations';
import { isSealed } from '../../domain/engine/sealed.ts';
import { unsoundIn } from '../../domain/engine/strictJson.ts';
import type { TransformationRun } from '../../domain/engine/transforming.ts';
import { queried } from '../../domain/operations-manager/workflows/query.ts';
import type { Evaluated } from '../jsonata/evaluate.ts';

/** Carries out a document; `json` is what goes out. Time and memory are limited by whoever runs this process. */
export const transformed = ({ document, incoming, runId, ...options }: TransformationRun): Evaluated => {
  const { faults, plan } = planTransformation(document);
  if (!plan) return { reason: `${faults[0]?.message} (${faults[0]?.path})` };
  const ran = runTransformation(plan, incoming, { ...options, random: randomOf(runId), isSealed, query: queried });
  if ('error' in ran) return { reason: ran.error.message };
  // Secrets that came in go out as they are; their form is no member of a document.
  const open = JSON.stringify(ran.outgoing, (_, member: unknown) => (isSealed(member) ? null : member));
  const unsound = unsoundIn(open);
  return unsound === undefined
    ? { json: JSON.stringify(ran.outgoing) }
    : { reason: `The result cannot be stored: ${unsound}` };
};
