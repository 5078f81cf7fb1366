import type { StoredEvent } from './port.ts';

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

export const toEvent = ([position, stream, revision, id, type, data, metadata]: Row): StoredEvent => ({
  stream,
  revision,
  position,
  id,
  type,
  data,
  metadata,
});
