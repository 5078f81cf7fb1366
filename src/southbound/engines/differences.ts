import {
  changedLines,
  diffTexts,
  isChange,
  storedDifference,
  TextFault,
  unifiedDiff,
} from '@automation-platform/configurations';
import { linesTo, predictChange, typeOf } from '@automation-platform/devices';
import type { Evaluated } from '../jsonata/evaluate.ts';
import type { DiffRun, FollowingText, FollowingTextRun, PredictionRun, WayRun } from '../port.ts';

/** Compares two texts. Time and memory are limited by whoever runs this process. */
export const evaluateDiff = ({ first, second, unit }: DiffRun): Evaluated => ({
  json: JSON.stringify(diffTexts(first, second, unit)),
});

/** Says how a configuration follows from an earlier one. */
export const evaluateFollowing = ({ before, after, ostype, shows }: FollowingTextRun): Evaluated => {
  const changed = changedLines(before, after);
  const following: FollowingText = {
    difference: storedDifference(before, after, changed),
    isChange: isChange(before, after, typeOf(ostype).volatile ?? [], changed),
    ...(shows && { diff: unifiedDiff(before, after, changed) }),
  };
  return { json: JSON.stringify(following) };
};

const unlessFault = (work: () => unknown): Evaluated => {
  try {
    return { json: JSON.stringify(work()) };
  } catch (error) {
    if (error instanceof TextFault) return { reason: `The configuration cannot be read: ${error.message}` };
    throw error;
  }
};

/** Predicts what a configuration changes. */
export const evaluatePrediction = ({ running, config, ostype, replaces }: PredictionRun): Evaluated =>
  unlessFault(() => predictChange(running, config, typeOf(ostype), replaces));

/** Finds the lines that lead to a configuration. */
export const evaluateWay = ({ running, goal, ostype }: WayRun): Evaluated =>
  unlessFault(() => linesTo(running, goal, typeOf(ostype)) ?? null);
