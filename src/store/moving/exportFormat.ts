import { createHash } from 'node:crypto';
import type { StoredEvent } from '../port.ts';

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
