import { hash } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { hashOf } from '@automation-platform/event-log';
import type { Noted } from '@automation-platform/log-proof';
import type { StoredEvent } from '../port.ts';

/** The file of a log's note. */
export const noteOf = (file: string): string => `${file}.head`;

const slotSize = 2048;
const slots = 2;
const longestName = 200;

/** The note that an event is the newest of a log. */
export const noteOfEvent = (log: string, event: StoredEvent): Noted => {
  const { position, stream, revision, id } = event;
  return { log, position, stream: stream.slice(0, longestName), revision, id, hash: hashOf(event) };
};

const checksum = (text: string): string => hash('sha256', text, 'hex');

const readSlot = (text: string): Noted | undefined => {
  const [sum, body] = text.split('\n');
  return body !== undefined && sum === checksum(body) ? (JSON.parse(body) as Noted) : undefined;
};

/**
 * The events in both slots of the note beside a log, the newest first. A torn slot is left out. A note that cannot be
 * read has no events.
 */
export const readNote = (file: string): readonly Noted[] => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(noteOf(file));
  } catch {
    return [];
  }
  const textOf = (slot: number): string => bytes.toString('latin1', slot * slotSize, (slot + 1) * slotSize);
  const read = Array.from({ length: slots }, (_, slot) => readSlot(textOf(slot)));
  return read.filter((note) => note !== undefined).sort((a, b) => b.position - a.position);
};

/**
 * Keeps the note of a log, in two slots that are written in turn, so that a torn write leaves the other slot. The note
 * is written after every commit, without an fsync of its own. A note that is older than the log shows nothing. A note
 * that is newer shows that the log has lost durable events.
 */
export const noteKeeper = (file: string) => {
  let descriptor: number | undefined;
  let slot = 0;
  return {
    write(note: Noted): void {
      descriptor ??= openSync(noteOf(file), constants.O_RDWR | constants.O_CREAT, 0o600);
      // The text is only ASCII, because a slot has a fixed number of bytes.
      const body = JSON.stringify(note).replace(/[^ -~]/g, escaped);
      const text = `${checksum(body)}\n${body}\n`;
      writeSync(descriptor, text.padEnd(slotSize).slice(0, slotSize), slot * slotSize, 'latin1');
      slot = (slot + 1) % slots;
    },
    close(): void {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
};

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
