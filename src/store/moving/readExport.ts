import { createReadStream } from 'node:fs';
import { isObject } from '../../domain/engine/members.ts';
import {
  BadLine,
  type ExportEnd,
  type ExportedEvent,
  type ExportHead,
  lineHash,
  linesPerChecksum,
} from './exportFormat.ts';

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
export const linesOf = async function* (file: string): AsyncGenerator<Buffer> {
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

const parsed = (text: string, line: number): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The message of the parser would quote the line.
  }
  throw new BadLine(line, 'it is no JSON object');
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

const eventIn = (value: Readonly<Record<string, unknown>>, line: number): ExportedEvent => {
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

  for await (const bytes of linesOf(file)) {
    line++;
    const text = bytes.toString('utf8');
    if (ended) throw new BadLine(line, 'nothing follows the end');
    if (bytes.at(-1) !== lineFeed) throw new BadLine(line, 'the file is cut off here');
    const value = parsed(text, line);
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
