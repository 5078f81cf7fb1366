import { hashOf, type StoredEvent } from '@automation-platform/event-log';
import type { AnchorLine } from './anchor.ts';
import type { Signature } from './digests.ts';
import type { Finding } from './findings.ts';
import { digestText, isSignedBy } from './keys.ts';

/** The newest event of a log, as a note beside it names it. `log` is the id of the log. */
export type Noted = Pick<StoredEvent, 'position' | 'stream' | 'revision' | 'id'> & {
  readonly log: string;
  readonly hash: string;
};

/** The contradiction between the note beside a log and the log. `at` is the event at the noted position. */
export const againstNote = (note: Noted, head: number, at: StoredEvent | undefined): Finding | undefined => {
  const { position, stream, revision } = note;
  if (position > head) {
    const message = `The note beside the log names event ${revision} of stream ${stream} at position ${position}; the log ends at ${head}`;
    return { from: head + 1, to: position, finding: 'cut', message };
  }
  if (at && at.id === note.id && hashOf(at) === note.hash) return undefined;
  const message = `The note beside the log names another event here: event ${revision} of stream ${stream}`;
  return { position, stream, revision, finding: 'cut', message };
};

/**
 * The lines of an anchor that are about a log: its own, and those of the logs that it was copied from. A copy keeps
 * signatures, so of the logs that told the same one, the later ones were copied from the first. Lines from before a log
 * was rewritten do not count.
 */
const linesAbout = (lines: readonly AnchorLine[], log: string | undefined, signatures: readonly Signature[]) => {
  const digests = new Set(signatures.map(({ digest }) => digest));
  const firstOf = new Map<string, string>();
  for (const { digest, topic, log: teller } of lines)
    if (topic === 'digestSigned' && digest !== null && digests.has(digest) && !firstOf.has(digest))
      firstOf.set(digest, teller);
  const logs = new Set([log, ...firstOf.values()]);
  const about = lines.filter((line) => logs.has(line.log));
  // A log begins anew before its first signature. A person who can write to the log can have such a line told later, too.
  const rewritten = about.findLastIndex(
    (line, at) => line.topic === 'logRewritten' && about.findIndex((other) => other.log === line.log) === at,
  );
  return about.slice(rewritten + 1).filter(({ topic }) => topic === 'digestSigned');
};

const isSigned = ({ key, events, digest, signature }: AnchorLine): boolean =>
  key !== null && digest !== null && signature !== null && isSignedBy(key, digestText(events, digest), signature);

/** The lines of an anchor about a log: how many signatures, and what speaks against the log. */
export const againstAnchor = (
  lines: readonly AnchorLine[],
  { log, signatures, head }: { log: string | undefined; signatures: readonly Signature[]; head: number },
): { readonly lines: number; readonly found: readonly Finding[] } => {
  const about = linesAbout(lines, log, signatures).filter(isSigned);
  const digestAt = new Map(signatures.map(({ events, digest }) => [events, digest]));
  const last = signatures.at(-1)?.events ?? 0;
  const beyond = about.filter(({ events }) => events > last).at(-1);
  const other = about.find(({ events, digest }) => events <= last && digestAt.get(events) !== digest);
  const found: Finding[] = [];
  if (beyond) {
    const { upTo, events, at } = beyond;
    const what = `event ${upTo?.revision} of stream ${upTo?.stream}`;
    const message = `The anchor was told on ${at} of a signature over ${events} events, up to ${what}; the log has none over more than ${last}`;
    found.push({ position: head, finding: 'cut', message });
  }
  if (other) {
    const message = `The anchor was told on ${other.at} of another signature over the first ${other.events} events`;
    const before = signatures.find(({ events }) => events >= other.events);
    found.push({ from: 1, to: before?.position ?? head, finding: 'altered or reordered', message });
  }
  return { lines: about.length, found };
};
