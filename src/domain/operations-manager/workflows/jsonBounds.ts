import type { Members } from '@automation-platform/json';
import { RequestError } from '../../engine/requestError.ts';
import { isReservedName } from '../../engine/strictJson.ts';

const deepest = 256;

/** The weight so far, and that of a value at this level. Each run of a task is weighed: nothing is allocated for it. */
const added = (weight: number, value: unknown, most: number, level: number): number => {
  let sum = weight + (typeof value === 'string' ? value.length + 2 : 5);
  if (sum > most) throw new RequestError('unprocessable', `A value has more than ${most} bytes`);
  if (typeof value !== 'object' || value === null) return sum;
  if (level === deepest) throw new RequestError('unprocessable', `A value has more than ${deepest} levels`);
  if (Array.isArray(value)) for (const item of value) sum = added(sum, item, most, level + 1);
  else for (const name in value) sum = added(sum + name.length + 3, (value as Members)[name], most, level + 1);
  return sum;
};

/**
 * About how many bytes a value has as JSON. Throws `unprocessable` for more than `most`, for more levels than can be
 * stored, and for members that only the service may make.
 */
export const weigh = (value: unknown, most = Number.POSITIVE_INFINITY): number => added(0, value, most, 0);

/** Throws `unprocessable` if the name of a member is one that only the service may make. */
export const refuseReserved = (name: string): void => {
  if (isReservedName(name)) throw new RequestError('unprocessable', `No member can be named ${name}`);
};

/** The value of a JSON text. Throws `unprocessable` if the text is none, or says what only the service may say. */
export const parsed = (text: string, spend: (steps: number) => void): unknown => {
  spend(text.length >> 3);
  try {
    return JSON.parse(text, (name, value: unknown) => {
      refuseReserved(name);
      return value;
    });
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError('unprocessable', `The text is no JSON: ${(error as Error).message}`);
  }
};
