import { hashIn, type StoredEvent } from '@automation-platform/event-log';
import { contentChecker } from './content.ts';
import type { Finding, Kind } from './findings.ts';
import { gapsOfLog } from './gaps.ts';
import type { LookUps } from './lookUps.ts';
import { hashesOf, type Newest, newestEvents } from './newest.ts';

type Needs = LookUps & {
  /** True if every event of a stream must have a link. */
  readonly linked: (stream: string) => boolean;
};

/** An event that came before the one that should be before it. `isTold`: it is a finding already. */
type Early = {
  readonly event: StoredEvent;
  readonly isTold: boolean;
  /** True if its stream had no event before it. */
  readonly isFirst: boolean;
};

const mostEarly = 1000;

/** The hashes that an event at a revision may name as the one before it. */
const previousOf = (revision: number, newest: Newest | undefined): readonly string[] =>
  revision === 0 ? [''] : (newest?.hashes ?? []);

/**
 * Checks events one by one, in the order of the log: links, revisions, positions and sums. It finds what shows by
 * position. A change at one event does not show at the next ones again.
 */
export const linkChecker = ({ dense, find, sumAt, arePartsRight, linked }: Needs) => {
  const found: Finding[] = [];
  const tell = ({ position, stream, revision }: StoredEvent, finding: Kind, message: string): void => {
    found.push({ position, stream, revision, finding, message });
  };
  const newest = newestEvents({ find, linked });
  const { checkLink, isSumWrong, isMadeFor } = contentChecker({ sumAt, arePartsRight, tell });
  const gaps = gapsOfLog();
  const early: Early[] = [];
  let last = 0;

  const removeEarly = (one: Early): void => {
    early.splice(early.indexOf(one), 1);
  };

  /** Takes the events of a stream that came too early and follow now. */
  const takeEarly = (stream: string): void => {
    for (;;) {
      const newestOfStream = newest.of(stream);
      if (!newestOfStream) return;
      const revision = newestOfStream.revision + 1;
      const one = early.find(({ event }) => event.stream === stream && event.revision === revision);
      const { hashes: previous } = newestOfStream;
      if (!one || (previous.length > 0 && !isMadeFor(one.event, { stream, revision, previous }))) return;
      removeEarly(one);
      if (!one.isTold)
        tell(one.event, 'reordered', `Event ${revision} of stream ${stream} comes before the one before it`);
      newest.remember(one.event, hashesOf(one.event));
    }
  };

  /** An event that was written for another place is remembered there. */
  const takeAsWritten = ({ event, isTold }: Omit<Early, 'isFirst'>, stream: string, revision: number): void => {
    if (!isTold) tell(event, 'altered', `This event was written as event ${revision} of stream ${stream}`);
    newest.remember({ ...event, stream, revision }, hashesOf(event));
  };

  /** Looks among the events at wrong places for those that were written for the next places of a stream. */
  const takeMisplaced = (stream: string, from: number, to: number): number => {
    for (let revision = from; revision < to; revision++) {
      const previous = previousOf(revision, newest.of(stream));
      const one = early.find(({ event }) => isMadeFor(event, { stream, revision, previous }));
      if (!one) return revision;
      removeEarly(one);
      takeAsWritten(one, stream, revision);
    }
    return to;
  };

  /** Takes an event although some before it in its stream are missing. */
  const takeAfterGap = (event: StoredEvent, from: number, after: number): void => {
    const { stream, revision, position } = event;
    if (from < revision) gaps.add({ stream, from, to: revision - 1, position }, after);
    newest.remember(event, hashesOf(event));
  };

  /** Takes an event that comes before the one that should be before it, or after one that is missing. */
  const comesEarly = (event: StoredEvent, known: Newest | undefined, isTold: boolean): void => {
    const { stream, revision, position } = event;
    const next = takeMisplaced(stream, known ? known.revision + 1 : 0, revision);
    const now = newest.of(stream) ?? known;
    if (next === revision) {
      take(event, isTold);
      return;
    }
    if (isMadeFor(event, { stream, revision: next, previous: previousOf(next, now) })) {
      takeAsWritten({ event, isTold }, stream, next);
      return;
    }
    const after = now?.position ?? 0;
    const waiting = early.find((one) => one.event.stream === stream && one.event.revision < revision);
    if (waiting) {
      removeEarly(waiting);
      takeAfterGap(waiting.event, next, after);
      take(event, isTold);
      return;
    }
    const isLost = gaps.isLost({ after, before: position }, stream, next);
    if (isLost || early.length >= mostEarly) takeAfterGap(event, isLost ? next + 1 : next, after);
    else early.push({ event, isTold, isFirst: now === undefined });
  };

  /** Takes an event that comes after a later one of its stream. */
  const comesLate = (event: StoredEvent): void => {
    const { stream, revision } = event;
    if (gaps.isFilledBy(event))
      tell(event, 'reordered', `Event ${revision} of stream ${stream} comes after a later one`);
    else tell(event, 'inserted', `There is another event ${revision} of stream ${stream}`);
  };

  const take = (event: StoredEvent, isTold: boolean): void => {
    const { stream, revision } = event;
    const newestOfStream = newest.before(event);
    const next = newestOfStream ? newestOfStream.revision + 1 : 0;
    if (revision > next) comesEarly(event, newestOfStream, isTold);
    else if (revision < next) comesLate(event);
    else {
      // In a file of this program, only its own events have links, wherever they are put.
      const isLinked = (newestOfStream?.linked ?? linked(stream)) || (dense && hashIn(event.metadata) !== undefined);
      newest.remember(event, isLinked ? checkLink(event, previousOf(revision, newestOfStream)) : []);
      if (early.length > 0) takeEarly(stream);
    }
  };

  /** Tells of an event that came too early, and whose place never came. */
  const atEnd = ({ event, isTold, isFirst }: Early): void => {
    if (isTold) return;
    const { stream, revision } = event;
    const isThere = (newest.of(stream)?.revision ?? -1) >= revision - 1;
    const isAltered = isThere || (isFirst && dense);
    tell(
      event,
      isAltered ? 'altered' : 'missing',
      `Event ${revision} of stream ${stream} does not follow event ${revision - 1}`,
    );
  };

  return {
    next(event: StoredEvent): void {
      const { position, metadata } = event;
      if (dense && position > last + 1) gaps.addRows(last + 1, position - 1);
      last = position;
      take(event, hashIn(metadata) === undefined && isSumWrong(event));
    },
    /** The findings. To be called once, after the last event. */
    findings: (): readonly Finding[] => {
      early.splice(0).forEach(atEnd);
      return [...found, ...gaps.findings()];
    },
  };
};
