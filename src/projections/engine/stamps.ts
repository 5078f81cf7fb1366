import type { Authored } from '../../domain/engine/authors.ts';
import { type Recorded, splitStream } from '../../store/event.ts';

/** The id of the resource that an event is about. */
export const idOf = ({ stream }: Recorded): string => splitStream(stream).id;

/** Times and authors of a document that an event creates. */
export const made = ({ metadata: { at, actor } }: Recorded): Authored => ({
  created: at,
  createdBy: actor.id,
  lastUpdated: at,
  lastUpdatedBy: actor.id,
});

/** Time and author of the last change of a document, from the event that changes it. */
export const touched = ({ metadata: { at, actor } }: Recorded): Pick<Authored, 'lastUpdated' | 'lastUpdatedBy'> => ({
  lastUpdated: at,
  lastUpdatedBy: actor.id,
});
