import { RequestError } from '../domain/engine/requestError.ts';

const malformed = (): RequestError =>
  new RequestError('invalid', 'cursor must be one that an answer has given', { path: 'cursor' });

/** The number in a cursor: of a position or a revision. Throws `invalid`. */
export const positionIn = (cursor: string): number => {
  if (!/^\d{1,15}$/.test(cursor)) throw malformed();
  return Number(cursor);
};

/** A place within an event: its position, and a number of things in it. */
export const placeIn = (cursor: string): { readonly position: number; readonly index: number } => {
  const [, position, index] = /^(\d{1,15})\.(\d{1,4})$/.exec(cursor) ?? [];
  if (position === undefined || index === undefined) throw malformed();
  return { position: Number(position), index: Number(index) };
};
