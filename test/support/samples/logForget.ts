import type { Asked } from '../../../src/cli/law/plan.ts';
import type { StoredEvent } from '../../../src/store/port.ts';

export const nobody: Asked = { forget: undefined, jobsBefore: undefined, eventsBefore: undefined };
/** The metadata of an event that somebody else wrote. */
export const written = {
  $correlationId: 'r',
  $causationId: 'r',
  at: '2026-01-01T00:00:00.000Z',
  actor: { id: 'ffff', username: 'otto', provenance: 'local' },
  operation: 'test',
  requestId: 'r',
  schemaVersion: 1,
};
export const textOf = ({ data, metadata }: StoredEvent): string => data + metadata;
