import type { Authored } from '../../domain/engine/authors.ts';
import { type Recorded, splitStream } from '../../store/event.ts';

/** The id of the resource that an event is about. */
export const idOf = ({ stream }: Recorded): string => splitStream(stream).id;

/** Time and author that an event gives to what it brings into being. */
export const made = ({ metadata: { at, actor } }: Recorded): Authored => ({
  created: at,
  createdBy: actor.id,
  lastUpdated: at,
  lastUpdatedBy: actor.id,
});

/** Time and author that an event gives to what it changes. */
export const touched = ({ metadata: { at, actor } }: Recorded): Pick<Authored, 'lastUpdated' | 'lastUpdatedBy'> => ({
  lastUpdated: at,
  lastUpdatedBy: actor.id,
});
