import {
  claimedHash,
  hashIn,
  isPart,
  link,
  type StoredEvent,
  sumOf,
  withoutHash,
} from '@automation-platform/event-log';
import type { Kind } from './findings.ts';
import type { LookUps } from './lookUps.ts';

/** The place that an event was written for, and what it may name as the hash before it. */
type MadeFor = { readonly stream: string; readonly revision: number; readonly previous: readonly string[] };

type Needs = Pick<LookUps, 'sumAt' | 'arePartsRight'> & {
  readonly tell: (event: StoredEvent, finding: Kind, message: string) => void;
};

/** The link that an event would have at a place. */
const linkAt = (event: StoredEvent, stream: string, revision: number, previous: string): string => {
  const { id, type, data, metadata } = event;
  return link({ stream, revision, id, type, data, metadata: withoutHash(metadata) }, previous);
};

// The metadata of the platform's own events begin so.
const begin = '{"$correlationId":';

/** Checks that events are what was written. */
export const contentChecker = ({ sumAt, arePartsRight, tell }: Needs) => {
  const altered = (event: StoredEvent): void =>
    tell(event, 'altered', `Event ${event.revision} of stream ${event.stream} is not what was written`);

  return {
    /** True if an event was written for a place. If it is elsewhere, its stream or revision was altered. */
    isMadeFor: (event: StoredEvent, { stream, revision, previous }: MadeFor): boolean => {
      const hash = hashIn(event.metadata);
      if (hash !== undefined) return previous.some((one) => linkAt(event, stream, revision, one) === hash);
      return sumAt !== undefined && sumAt(event.position) === sumOf({ ...event, stream, revision });
    },

    /**
     * Checks an event of a stream with links. `previous`: what it may name as the hash before it; none if that is not
     * known. Returns the hashes that the next event may name.
     */
    checkLink: (event: StoredEvent, previous: readonly string[]): readonly string[] => {
      const { stream, revision, metadata } = event;
      const hash = hashIn(metadata);
      const [first, other] = previous;
      if (first === undefined) return hash === undefined ? [] : [hash];
      const right = linkAt(event, stream, revision, first);
      if (right === hash) return [right];
      if (other !== undefined && linkAt(event, stream, revision, other) === hash) return [hash];
      // Where only the frame of the link is spoilt, the hash is still at its place.
      const claimed = claimedHash(metadata);
      if (hash === undefined && claimed !== right && !metadata.startsWith(begin)) {
        tell(event, 'inserted', `Event ${revision} of stream ${stream} is not by the platform`);
        return [];
      }
      altered(event);
      return [claimed, right];
    },

    /**
     * Checks the sum of an event without a link; without a sum, a part of content by the name of its stream. Tells if it is
     * wrong, and returns true.
     */
    isSumWrong: (event: StoredEvent): boolean => {
      const sum = sumAt?.(event.position);
      const isRight =
        sum === undefined ? !isPart(event) || arePartsRight?.(event.stream) !== false : sum === sumOf(event);
      if (isRight) return false;
      altered(event);
      return true;
    },
  };
};
