import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { StoredEvent } from '@automation-platform/event-log';
import { isObject, type Members } from '@automation-platform/json';

/**
 * An export is NDJSON: a head, events, a checksum after each 10,000 lines, and an end. A checksum is over all lines
 * before it, with their line feeds.
 */
export const linesPerChecksum = 10_000;

export type ExportHead = {
  readonly format: 1;
  /** The id of the log. */
  readonly log: string;
  readonly at: string;
  /** The places of readers and cursors, by the names of their checkpoints. */
  readonly readers: Readonly<Record<string, number>>;
};

/** An event, and its sum if it has no link, or if its damage was accepted. */
export type ExportedEvent = StoredEvent & { readonly sum?: string };

/** The last line. `digest` is base64 of the SHA-256 over all lines before it. Without a key there is no signature. */
export type ExportEnd = {
  readonly events: number;
  readonly digest: string;
  readonly key: string | null;
  readonly signature: string | null;
};

export const headLine = (head: ExportHead): string => JSON.stringify({ export: head });
export const checksumLine = (checksum: string): string => JSON.stringify({ checksum });
export const endLine = (end: ExportEnd): string => JSON.stringify({ end });

/** The line of an event. Its members have a fixed order. */
export const eventLine = ({ position, stream, revision, id, type, data, metadata, sum }: ExportedEvent): string =>
  JSON.stringify({ position, stream, revision, id, type, data, metadata, sum });

/** Hashes the lines of an export. */
export const lineHash = () => {
  const hash = createHash('sha256');
  return {
    add: (text: string | Uint8Array): void => void hash.update(text),
    checksum: (): string => hash.copy().digest('hex'),
    digest: (): string => hash.copy().digest('base64'),
  };
};

/** The text that the signature of an export is over. */
export const signedText = (events: number, digest: string): string =>
  `automation-platform export 1\n${events}\n${digest}`;

/** The first line that is not as it was written. */
export class BadLine extends Error {
  readonly line: number;
  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
    this.name = 'BadLine';
    this.line = line;
  }
}

/** A part of an export. After `checked` all lines so far are as they were written. */
export type ExportPart =
  | { readonly head: ExportHead }
  | { readonly event: ExportedEvent; readonly line: number }
  | { readonly checked: number }
  | { readonly end: ExportEnd };

const lineFeed = 10;
// An event of 1 MiB of control characters takes six times as much as JSON in JSON.
const longestLine = 64 * 1024 * 1024;

/** The lines of a file, with their line feeds. A last line without one is given as it is. */
const linesOf = async function* (file: string): AsyncGenerator<Buffer> {
  let open: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      const rest = chunk.subarray(from, at + 1);
      yield open.length === 0 ? rest : Buffer.concat([...open, rest]);
      open = [];
      size = 0;
      from = at + 1;
    }
    if (from < chunk.length) open.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > longestLine) break;
  }
  if (open.length > 0) yield Buffer.concat(open);
};

/** A line of an export. `members` is undefined for a line that is no JSON object. */
type ExportLine = { readonly bytes: Buffer; readonly members: Members | undefined };

const membersIn = (bytes: Buffer): Members | undefined => {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    // The message of the parser would quote the line.
    return undefined;
  }
};

/** The lines of an export as they are, right or wrong. */
export const exportLines = async function* (file: string): AsyncGenerator<ExportLine> {
  for await (const bytes of linesOf(file)) yield { bytes, members: membersIn(bytes) };
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';

const headIn = (value: unknown): ExportHead => {
  if (!isObject(value)) throw new BadLine(1, 'this is no export of a log');
  const { format, log, at, readers } = value;
  if (format !== 1) throw new BadLine(1, `this program reads exports of format 1, not ${JSON.stringify(format)}`);
  if (!isText(log) || !isText(at) || !isObject(readers) || !Object.values(readers).every(isCount))
    throw new BadLine(1, 'the head lacks log, at or readers');
  return { format, log, at, readers: readers as Readonly<Record<string, number>> };
};

const texts = ['stream', 'id', 'type', 'data', 'metadata'] as const;

const eventIn = (value: Members, line: number): ExportedEvent => {
  const wrong = texts.find((name) => !isText(value[name]));
  if (wrong !== undefined) throw new BadLine(line, `${wrong} is no text`);
  if (!isCount(value.position) || typeof value.revision !== 'number')
    throw new BadLine(line, 'position or revision is no number');
  if (value.sum !== undefined && !isText(value.sum)) throw new BadLine(line, 'sum is no text');
  return value as ExportedEvent;
};

const endIn = (value: unknown, line: number): ExportEnd => {
  if (!isObject(value)) throw new BadLine(line, 'the end is no object');
  const { events, digest, key, signature } = value;
  const isSigned = isText(key) && isText(signature);
  if (!isCount(events) || !isText(digest) || !(isSigned || (key === null && signature === null)))
    throw new BadLine(line, 'the end lacks events, digest, key or signature');
  return value as ExportEnd;
};

/**
 * Reads an export, and checks its lines, checksums and end, but not the events. Throws `BadLine` at the first line that
 * is wrong. Where only a checksum shows that, it names the line of the checksum and those that it is over.
 */
export const readExport = async function* (file: string): AsyncGenerator<ExportPart> {
  const hash = lineHash();
  let line = 0;
  let since = 0;
  let checkedTo = 0;
  let events = 0;
  let position = 0;
  let ended = false;

  const check = (found: boolean, what: string): void => {
    if (!found) throw new BadLine(line, `${what} is not that of the lines ${checkedTo + 1} to ${line - 1}`);
    checkedTo = line;
  };

  for await (const { bytes, members: value } of exportLines(file)) {
    line++;
    if (ended) throw new BadLine(line, 'nothing follows the end');
    if (bytes.at(-1) !== lineFeed) throw new BadLine(line, 'the file is cut off here');
    if (!value) throw new BadLine(line, 'it is no JSON object');
    if (line === 1) {
      yield { head: headIn(value.export) };
      since = 1;
    } else if (isText(value.checksum)) {
      if (since !== linesPerChecksum)
        throw new BadLine(line, `a checksum follows ${linesPerChecksum} lines, not ${since}`);
      check(value.checksum === hash.checksum(), 'the checksum');
      since = 0;
      yield { checked: line };
    } else if (value.end !== undefined) {
      const end = endIn(value.end, line);
      check(end.digest === hash.digest(), 'the digest');
      if (end.events !== events)
        throw new BadLine(line, `the end counts ${end.events} events, but there are ${events}`);
      ended = true;
      yield { end };
    } else {
      if (since === linesPerChecksum) throw new BadLine(line, `a checksum is missing after ${linesPerChecksum} lines`);
      const event = eventIn(value, line);
      if (event.position <= position)
        throw new BadLine(line, `position ${event.position} follows position ${position}`);
      ({ position } = event);
      events++;
      since++;
      yield { event, line };
    }
    hash.add(bytes);
  }
  if (!ended) throw new BadLine(line + 1, 'the export has no end: the file is cut off');
};
