import type { StoredEvent } from '@automation-platform/event-log';
import type { DigestSigned } from './digestLog.ts';
import type { Finding, Kind } from './findings.ts';
import { lineOf, runningDigest } from './lines.ts';

/** A signature, the position of its event, and whether it is by a key that is believed. */
export type Signature = DigestSigned & { readonly position: number; readonly believed: boolean };

/** A place where the digests do not hold. */
type Broken = { readonly from: number; readonly to: number };

/** The counts since the last signature. */
type Since = {
  readonly running: ReturnType<typeof runningDigest>;
  /** How many lines the steps that hold cover. */
  held: number;
  /** Where the lines after the last step begin. */
  from: number | undefined;
  broken: Broken | undefined;
};

/** A range in which a signature does not hold, and how many events it has more than were signed. */
type Fault = Broken & { readonly signature: number; readonly more: number; readonly message: string };

/** The finding about a range. Events that are too many in one range and lack in the next were moved. */
const findingsOf = (faults: readonly Fault[]): readonly Finding[] => {
  const rows: Fault[][] = [];
  for (const fault of faults) {
    const row = rows.at(-1);
    if (row?.at(-1)?.signature === fault.signature - 1) row.push(fault);
    else rows.push([fault]);
  }
  return rows.flatMap((row) => {
    const total = row.reduce((sum, { more }) => sum + more, 0);
    return row.map(({ from, to, more, message }) => ({
      from,
      to,
      finding: kindOf(total === 0 ? 0 : more),
      message,
    }));
  });
};

const kindOf = (more: number): Kind => {
  if (more === 0) return 'altered or reordered';
  return more < 0 ? 'missing' : 'inserted';
};

const countOf = (lines: number, signed: number): string =>
  lines === signed
    ? `${lines} events are there, as many as were signed`
    : `${lines} events are there, ${signed} were signed`;

/**
 * Compares the lines of a log with its signatures, in order. After a signature that does not hold it goes on with the
 * stored digest, so that the next change shows too.
 */
export const digestChecker = (signatures: readonly Signature[]) => {
  const found: Finding[] = [];
  const faults: Fault[] = [];
  const indexOf = new Map(signatures.map(({ upTo }, n) => [upTo.id, n]));
  let next = 0;
  let lines = 0;
  // Lines that were found right, but are only proved by the next signature that is believed.
  let right = 0;
  let signed = 0;
  const begin = (digest: string): Since => ({
    running: runningDigest(digest),
    held: 0,
    from: undefined,
    broken: undefined,
  });
  let since = begin('');

  /** The lines of some signatures, up to a position, are not what was signed. */
  const tell = (signature: number, more: number, position: number, message: string): void => {
    right += since.held;
    const { from, to } = since.broken ?? { from: since.from ?? position, to: position };
    const rest = to < position ? `. What follows, up to position ${position}, is not proved` : '';
    faults.push({ from, to, signature, more, message: message + rest });
  };

  /** Compares the lines since the last signature with the signature that ends here. */
  const compare = (at: number, signature: Signature, position: number): void => {
    const count = since.running.lines();
    const expected = signature.events - (signatures[at - 1]?.events ?? 0);
    const holds = since.running.digest() === signature.digest && count === expected;
    if (holds) {
      right += count;
      if (since.broken) {
        const message = 'The steps of this signature are not those of the events, but its end is';
        found.push({ position: signature.position, finding: 'altered', message });
      }
      if (!signature.believed) return;
      signed += right;
      right = 0;
      return;
    }
    tell(at, count - expected, position, `Since the signature before, ${countOf(count, expected)}`);
  };

  /** The events at which some signatures end are not there. */
  const lacks = (from: number, to: number, position: number): void => {
    const { upTo } = signatures[from] ?? {};
    const which = from + 1 === to ? 'the signature' : `the first of ${to - from} signatures`;
    const message = `Event ${upTo?.revision} of stream ${upTo?.stream}, at which ${which} ended, is not there`;
    tell(from, -1, position, message);
  };

  const close = (at: number, position: number): void => {
    const signature = signatures[at];
    if (!signature) return;
    if (at > next) lacks(next, at, position);
    else compare(at, signature, position);
    next = at + 1;
    since = begin(signature.digest);
  };

  const add = (event: StoredEvent): void => {
    const { position, stream, revision, id } = event;
    const step = since.running.add(lineOf(event));
    since.from ??= position;
    const target = signatures[next];
    const isTarget = target?.upTo.id === id || (target?.upTo.stream === stream && target.upTo.revision === revision);
    const at = isTarget ? next : indexOf.get(id);
    if (at !== undefined && at >= next) {
      close(at, position);
      return;
    }
    if (step === undefined || since.broken) return;
    const count = since.running.lines();
    if (step === target?.steps[count / 100 - 1]) {
      since.held = count;
      since.from = undefined;
    } else {
      since.broken = { from: since.from, to: position };
    }
  };

  return {
    add(event: StoredEvent): void {
      lines++;
      if (next < signatures.length) add(event);
    },
    /** The findings, and how many events were there and are proved. To be called once, after the last event. */
    end(position: number) {
      if (next < signatures.length) lacks(next, signatures.length, position);
      return { found: [...found, ...findingsOf(faults)], lines, signed };
    },
  };
};
