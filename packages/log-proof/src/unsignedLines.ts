import type { StoredEvent } from '@automation-platform/event-log';
import type { DigestSigned, Place } from './digestLog.ts';
import { digestText, type SigningKey } from './keys.ts';
import { digestStream, lineOf, runningDigest } from './lines.ts';

/** Where the lines begin: after a number of lines, whose digest was the last one signed. */
export type Begin = { readonly events: number; readonly digest: string };

/** All lines after a signature, as far as they are known. */
export const unsignedLines = ({ events, digest }: Begin) => {
  const running = runningDigest(digest);
  const steps: string[] = [];
  let last: Place | undefined;
  let first: StoredEvent | undefined;
  return {
    lines: running.lines,
    /** Where the lines end. */
    end: (): Begin => ({ events: events + running.lines(), digest: running.digest() }),
    /** The first event that is no signature itself: since then, something has happened. */
    first: (): StoredEvent | undefined => first,
    add(event: StoredEvent): void {
      const { id, stream, revision } = event;
      const step = running.add(lineOf(event));
      if (step !== undefined) steps.push(step);
      last = { stream, revision, id };
      if (stream !== digestStream) first ??= event;
    },
    /** Signs the lines; undefined without any. */
    sign(key: SigningKey): DigestSigned | undefined {
      if (!last) return undefined;
      const total = events + running.lines();
      const end = running.digest();
      const signature = key.sign(digestText(total, end));
      return {
        upTo: last,
        events: total,
        digest: end,
        steps: steps.filter((step) => step !== end),
        key: key.key,
        signature,
      };
    },
  };
};

export type Unsigned = ReturnType<typeof unsignedLines>;
