import { hashIn, sumOf } from '@automation-platform/event-log';
import {
  checksumLine,
  type ExportEnd,
  endLine,
  eventLine,
  headLine,
  lineHash,
  linesPerChecksum,
  signedText,
} from '@automation-platform/log-proof';
import { openRemoteToCopy } from '../open.ts';
import type { StoredEvent } from '../port.ts';
import { placesOfReaders } from '../readers.ts';
import { acceptedSums } from '../sqlite/accept.ts';
import { openSqliteReader } from '../sqlite/store.ts';
import type { LogUrl } from '../url.ts';
import { content, incompleteStreams } from './content.ts';

/** A key that signs exports. `key` is its public key. */
type ExportKey = { readonly key: string; readonly sign: (text: string) => string };

type Needs = {
  readonly at: LogUrl;
  /** Leaves out foreign streams that have lost events. */
  readonly skipIncomplete: boolean;
  /** Without a key the export is not signed. */
  readonly key: ExportKey | undefined;
  readonly now: () => Date;
  /** Gets messages about lost connections. */
  readonly log: (message: string) => void;
  readonly report: (progress: { readonly events: number; readonly position: number; readonly head: number }) => void;
};

const linesAtOnce = 200;

/** Gathers lines, hashes them, and puts a checksum after each 10,000. */
const exportText = () => {
  const hash = lineHash();
  let lines = 0;
  let unhashed = '';
  let ready = '';
  const settle = (): void => {
    hash.add(unhashed);
    ready += unhashed;
    unhashed = '';
  };
  return {
    add(line: string): void {
      unhashed += `${line}\n`;
      lines++;
      if (lines % linesPerChecksum !== 0) return;
      settle();
      unhashed = `${checksumLine(hash.checksum())}\n`;
    },
    isEnough: (): boolean => lines % linesAtOnce === 0,
    take(): string {
      settle();
      const text = ready;
      ready = '';
      return text;
    },
    digest: hash.digest,
  };
};

const signed = (events: number, digest: string, key: ExportKey | undefined): ExportEnd => ({
  events,
  digest,
  key: key?.key ?? null,
  signature: key?.sign(signedText(events, digest)) ?? null,
});

/**
 * Writes an export, some lines at a time: what `log copy` carries, in the order of the log. A service may write to the
 * log meanwhile. Throws where the log is damaged.
 */
export const exportLog = async (needs: Needs, write: (text: string) => Promise<void>): Promise<ExportEnd> => {
  const { at, skipIncomplete, key, now, report } = needs;
  const log = 'file' in at ? await openSqliteReader(at.file) : await openRemoteToCopy({ url: at.url, log: needs.log });
  try {
    const head = await log.head();
    const skipped = skipIncomplete ? await incompleteStreams(log) : new Set<string>();
    // The sums of linked events whose damage was accepted. All other events have sums of their own.
    const accepted = 'file' in at ? acceptedSums(at.file) : new Map<number, string>();
    const sumFor = (event: StoredEvent): string | undefined =>
      hashIn(event.metadata) === undefined ? sumOf(event) : accepted.get(event.position);

    const text = exportText();
    // The places are read before the events, so no reader is beyond the last one.
    const readers = Object.fromEntries(await placesOfReaders(log));
    text.add(headLine({ format: 1, log: log.id, at: now().toISOString(), readers }));
    let events = 0;
    for await (const event of content(log, { skipped })) {
      const sum = sumFor(event);
      text.add(eventLine(sum === undefined ? event : { ...event, sum }));
      events++;
      if (!text.isEnough()) continue;
      report({ events, position: event.position, head });
      await write(text.take());
    }
    await write(text.take());
    const end = signed(events, text.digest(), key);
    await write(`${endLine(end)}\n`);
    return end;
  } finally {
    await log.close();
  }
};
