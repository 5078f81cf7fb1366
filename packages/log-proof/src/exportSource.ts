import { statSync } from 'node:fs';
import type { StoredEvent } from '@automation-platform/event-log';
import {
  type ExportEnd,
  type ExportedEvent,
  type ExportHead,
  exportLines,
  lineHash,
  signedText,
} from './exportLines.ts';
import type { Finding } from './findings.ts';
import { isSignedBy } from './keys.ts';
import { digestStream } from './lines.ts';
import { risingPositions } from './risingPositions.ts';
import type { Source } from './source.ts';
import type { SignedExport } from './trust.ts';

/** The members that lines of exports have. */
type Line = Partial<ExportedEvent> & {
  readonly export?: ExportHead;
  readonly checksum?: string;
  readonly end?: ExportEnd;
};

const isEvent = (line: Line): line is ExportedEvent =>
  typeof line.position === 'number' &&
  typeof line.revision === 'number' &&
  [line.stream, line.id, line.type, line.data, line.metadata].every((text) => typeof text === 'string');

/** The findings of a first pass over the lines of an export. */
type Scan = {
  readonly head: ExportHead | undefined;
  readonly last: number;
  readonly proofs: readonly StoredEvent[];
  readonly findings: readonly Finding[];
  /** The signature of the export as a whole, if its lines are what was signed. */
  readonly signed: SignedExport | undefined;
};

/** Compares the lines of an export with its checksums and with its end. */
const scan = async (file: string): Promise<Scan> => {
  const hash = lineHash();
  const proofs: StoredEvent[] = [];
  const findings: Finding[] = [];
  const positions = risingPositions();
  let head: ExportHead | undefined;
  let end: ExportEnd | undefined;
  let last = 0;
  // Each checksum is over all lines before it: after one that is wrong, the later ones say nothing.
  let checked = 0;
  let isRight = true;

  const take = (placed: ReturnType<typeof positions.next>): void => {
    if (!placed) return;
    const { event, claimed } = placed;
    last = event.position;
    if (event.stream === digestStream) proofs.push(event);
    if (claimed === undefined) return;
    const { position, stream, revision } = event;
    const message = `The event here says that it is at position ${claimed}`;
    findings.push({ position, stream, revision, finding: 'altered or reordered', message });
  };

  const check = (holds: boolean, what: string): void => {
    const to = positions.reached();
    if (!holds && isRight) {
      const message = `${what} is not that of the lines before it`;
      findings.push({ from: checked + 1, to, finding: 'altered or reordered', message });
    }
    isRight &&= holds;
    checked = to;
  };

  for await (const { bytes, members } of exportLines(file)) {
    const line: Line = members ?? {};
    if (isEvent(line)) take(positions.next(line));
    else if (line.export) head = line.export;
    else if (line.checksum !== undefined) check(line.checksum === hash.checksum(), 'A checksum');
    else if (line.end) {
      ({ end } = line);
      check(line.end.digest === hash.digest(), 'The digest at the end of the export');
    } else
      findings.push({
        position: positions.reached() + 1,
        finding: 'altered',
        message: 'This line is none of an export',
      });
    hash.add(bytes);
  }
  take(positions.end());
  if (!end) findings.push({ position: last, finding: 'cut', message: 'The export ends here, but has no last line' });
  const { key = null, events = 0, digest = '', signature = null } = end ?? {};
  const isSigned = key !== null && signature !== null && isSignedBy(key, signedText(events, digest), signature);
  if (key !== null && !isSigned)
    findings.push({ position: last, finding: 'altered', message: 'The signature of the export is not by its key' });
  return { head, last, proofs, findings, signed: isRight && isSigned ? { key, position: last } : undefined };
};

const linesAtOnce = 200;

/** An export of a log. It is read twice: its signatures must be known before its events. */
export const exportSource = async (file: string): Promise<Source> => {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no export at ${file}`);
  const { head, last, proofs, findings, signed } = await scan(file);
  if (!head) throw new Error(`${file} is no export of a log; write sqlite:${file} if it is a log`);
  const sums = new Map<number, string>();
  return {
    id: head.log,
    head: last,
    lookUps: { dense: false, sumAt: (position) => sums.get(position) },
    noted: undefined,
    findings,
    signed,
    proofs: async () => proofs,
    at: async () => undefined,
    events: async function* () {
      const positions = risingPositions();
      let events: ExportedEvent[] = [];
      const take = (placed: ReturnType<typeof positions.next>): void => {
        if (!placed) return;
        const { event } = placed;
        if (event.sum !== undefined) sums.set(event.position, event.sum);
        events.push(event);
      };
      for await (const { members: line = {} } of exportLines(file)) {
        if (isEvent(line)) take(positions.next(line));
        if (events.length < linesAtOnce) continue;
        yield events;
        events = [];
        sums.clear();
      }
      take(positions.end());
      if (events.length > 0) yield events;
    },
    close: async () => undefined,
  };
};
