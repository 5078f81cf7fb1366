import type { Members } from '@automation-platform/json';
import { RequestError } from '../../engine/requestError.ts';
import { isReservedName } from '../../engine/strictJson.ts';

const deepest = 256;

/**
 * About how many bytes a value has as JSON. Throws `unprocessable` for more than `most`, for more levels than can be
 * stored, and for members that only the service may make.
 */
export const weigh = (value: unknown, most = Number.POSITIVE_INFINITY): number => {
  let weight = 0;
  // Most values are texts and numbers, for which nothing is allocated.
  const pending: { readonly value: object; readonly level: number }[] = [];
  const add = (one: unknown, level: number): void => {
    weight += typeof one === 'string' ? one.length + 2 : 5;
    if (weight > most) throw new RequestError('unprocessable', `A value has more than ${most} bytes`);
    if (typeof one === 'object' && one !== null) pending.push({ value: one, level });
  };
  add(value, 0);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: one, level } = next;
    if (level === deepest) throw new RequestError('unprocessable', `A value has more than ${deepest} levels`);
    if (Array.isArray(one)) for (const item of one) add(item, level + 1);
    else
      for (const name in one) {
        weight += name.length + 3;
        add((one as Members)[name], level + 1);
      }
  }
  return weight;
};

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
