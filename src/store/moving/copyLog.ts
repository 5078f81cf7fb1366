import { createHash } from 'node:crypto';
import type { StoredEvent } from '../port.ts';
import { movedPlaces, placesOfReaders, setPlacesOfReaders } from '../readers.ts';
import { appender, type CopyEnd, place } from './appends.ts';
import { type Choice, content, differences, incompleteStreams, type Kind, type Shown, shown } from './content.ts';
import { settingsOfStreams } from './settings.ts';
import { unfitEvents } from './unfit.ts';

/** The progress of a copy. `position` and `head` are positions of the source. */
export type Progress = {
  readonly step: 'comparing' | 'copying' | 'verifying';
  readonly position: number;
  readonly head: number;
  readonly events: number;
};

/**
 * The number of events, and a SHA-256 in hex over one line for each event in order. A line is the JSON of [stream,
 * revision, id, type, data, metadata] as `shown` returns them.
 */
type Content = { readonly events: number; readonly digest: string };

/** The result of a copy. */
export type Copied = {
  /** How many events the target had already, and how many were copied. */
  readonly found: number;
  readonly copied: number;
  /** The content of both logs now. */
  readonly source: Content;
  readonly target: Content;
  /** The reasons why events were left out, each with the number of events. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** A line about copied events that the platform would not write so; none if there are none. */
  readonly unfit: readonly string[];
};

type Needs = {
  readonly from: CopyEnd;
  readonly to: CopyEnd;
  /** Leaves out foreign streams that have lost events. Without this option, such a stream makes the copy fail. */
  readonly skipIncomplete?: boolean;
  /** Streams that are left out, and that the target may have by itself. */
  readonly without?: ReadonlySet<string>;
  /** Stops the copy between two appends: it ends with the signal's reason. */
  readonly signal: AbortSignal;
  readonly told: (progress: Progress) => void;
};

/**
 * An event of the source, and the target's event at the same place if there is one. `seen` and `seenThere` are their
 * parts to compare.
 */
type Pair = {
  readonly event: StoredEvent;
  readonly there?: StoredEvent;
  readonly seen: Shown;
  readonly seenThere?: Shown;
};

type Ends = Pick<Needs, 'from' | 'to' | 'signal'>;

/**
 * Yields the events of the source, each with the target's event at the same place. Throws an Error that names the first
 * place where the logs differ.
 */
const sideBySide = async function* ({ from, to, signal }: Ends, choice: Choice, kind?: Kind): AsyncGenerator<Pair> {
  const theirs = content(to, { skipped: choice.skipped }, kind);
  const next = async () => ((await theirs.next()) as IteratorResult<StoredEvent, undefined>).value;
  try {
    for await (const event of content(from, choice, kind)) {
      signal.throwIfAborted();
      const [there, seen] = [await next(), shown(event)];
      if (!there) {
        yield { event, seen };
        continue;
      }
      const seenThere = shown(there);
      const different = differences(seen, seenThere).join(', ');
      if (different) {
        throw new Error(
          'The target is not a copy of the source: ' +
            `at its ${place(there)}, where the source has ${place(event)}, it differs in ${different}`,
        );
      }
      yield { event, there, seen, seenThere };
    }
    const more = await next();
    if (more) throw new Error(`The target has more than the source: ${place(more)}`);
  } finally {
    await theirs.return(undefined);
  }
};

/** Counts and hashes events one by one. */
const digester = () => {
  const hash = createHash('sha256');
  let events = 0;
  return {
    add: ({ stream, revision, id, type, data, metadata }: Shown): void => {
      hash.update(`${JSON.stringify([stream, revision, id, type, data, metadata])}\n`);
      events++;
    },
    done: (): Content => ({ events, digest: hash.digest('hex') }),
  };
};

/**
 * Copies a log that no process uses into another, event by event in the order of the log. Streams, revisions, ids,
 * types and bytes stay the same, and with them the times and hash links of the platform's events. The copy compares
 * both logs from the beginning, so it needs no record of its progress. The events of the target must be the first
 * events of the source; otherwise nothing is written. So a copy that was stopped or killed continues where it ended. A
 * second pass over both logs verifies them. Only then does the target get the places of the readers. Throws an Error
 * that names the place of a difference.
 */
export const copyLog = async ({
  from,
  to,
  skipIncomplete = false,
  without = new Set(),
  signal,
  told,
}: Needs): Promise<Copied> => {
  const head = await from.head();
  const incomplete = skipIncomplete ? await incompleteStreams(from) : new Set<string>();
  const skipped = new Set([...incomplete, ...without]);
  const leftOut = new Map([...incomplete].map((stream) => [`stream ${stream}, which has lost events`, 1]));
  const { end } = to;
  const settings = end && settingsOfStreams({ from, to: { ...to, end }, signal }, { skipped });
  await settings?.compare();
  const kind = settings && 'event';

  const { add, flush } = appender(to);
  const unfit = unfitEvents();
  let [found, copied] = [0, 0];
  const naming: Choice = { skipped, leftOut: (what) => leftOut.set(what, (leftOut.get(what) ?? 0) + 1) };
  for await (const { event, there } of sideBySide({ from, to, signal }, naming, kind)) {
    if (there) found++;
    else {
      await add(event);
      unfit.add(event);
      copied++;
    }
    told({ step: there ? 'comparing' : 'copying', position: event.position, head, events: found + copied });
  }
  await flush();
  const set = (await settings?.copy()) ?? { found: 0, copied: 0 };

  const places = movedPlaces(await placesOfReaders(from));
  const [source, target] = [digester(), digester()];
  let events = 0;
  for await (const { event, there, seen, seenThere } of sideBySide({ from, to, signal }, { skipped }, kind)) {
    if (!there || !seenThere) throw new Error(`The target lacks the source's ${place(event)}`);
    source.add(seen);
    target.add(seenThere);
    places.passed(event.position, there.position);
    told({ step: 'verifying', position: event.position, head, events: ++events });
  }
  for (const [event, there] of (await settings?.verified()) ?? []) {
    source.add(shown(event));
    target.add(shown(there));
  }
  await setPlacesOfReaders(to, places.moved());
  return {
    found: found + set.found,
    copied: copied + set.copied,
    source: source.done(),
    target: target.done(),
    leftOut,
    unfit: unfit.lines(),
  };
};
