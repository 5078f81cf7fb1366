import { exactText } from '@automation-platform/json';
import { inWords } from '../../audit/auditEvent.ts';
import type { Resource } from '../../domain/engine/resource.ts';
import { completeIn } from '../../store/anyEvent.ts';
import type { StoredEvent } from '../../store/port.ts';

/** Why a stream of events ends. */
export type Reason = 'slow' | 'rights' | 'stopping';

/**
 * An event as a frame of `text/event-stream`, with its secrets masked. Undefined if it cannot be read, or if it lacks
 * what the platform always writes: then somebody else wrote it.
 */
export const frameOf = (stored: StoredEvent, resource: Resource | null): Buffer | undefined => {
  const event = completeIn(stored);
  if (!event) return undefined;
  const shown = exactText(inWords(event, resource));
  return Buffer.from(`id: ${event.position}\nevent: ${oneLine(stored.type)}\ndata: ${shown}\n\n`);
};

/** A published event may have any source. A line break in it must not begin a new line of the frame. */
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

/** The last frame of a stream: why it ends, and the position of the last event that was sent. */
export const droppedFrame = (reason: Reason, position: number): Buffer =>
  Buffer.from(`event: dropped\ndata: ${JSON.stringify({ reason, position })}\n\n`);

/** A comment. It says up to which position there is nothing more to send, so that a reader can go on from there. */
export const commentFrame = (position: number): Buffer => Buffer.from(`: ${position}\n\n`);
