import type { StoredEvent } from '../port.ts';

/** The columns of an event, in the order of a `Row`. */
export const columns = 'position, stream, revision, id, type, data, metadata';

export type Row = [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** An element of a flat list. Throws when the list is too short. Events cross threads as such lists. */
export const element = <T>(list: readonly T[], at: number): T => {
  const found = list[at];
  if (found === undefined) throw new Error(`A list of ${list.length} has no element ${at}`);
  return found;
};

export const toEvent = ([position, stream, revision, id, type, data, metadata]: Row): StoredEvent => ({
  stream,
  revision,
  position,
  id,
  type,
  data,
  metadata,
});
