import { setTimeout as pause } from 'node:timers/promises';
import { oneByOne } from '../../concurrency/oneByOne.ts';
import { places } from '../../concurrency/places.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { EventStore } from '../../store/port.ts';
import { typesOf } from './asked.ts';
import type { Connection } from './connection.ts';
import type { EventAccess } from './eventAccess.ts';
import type { Reader, Readers } from './readers.ts';
import { chunkOf, type EventWindow, type Item, itemsOf } from './window.ts';

type Needs = {
  readonly access: EventAccess;
  readonly log: Pick<EventStore, 'readAll'>;
  readonly window: EventWindow;
  readonly readers: Readers;
  /** How many readers read the log at once. */
  readonly atOnce: number;
  readonly warn: (message: string, about: Record<string, unknown>) => void;
};

/** How many events of the window a reader gets between two looks at its rights. */
const mostAtOnce = 256;
/** Readers of the log who do not take what was read within this time make room for others. */
const patienceMs = 250;
const againMs = 1000;

/** Brings readers to the newest event: from the log, some at once, then from the newest events in memory. */
export const catchingUp = ({ access, log, window, readers, atOnce, warn }: Needs) => {
  const atLog = places(() => atOnce);

  /** Sends the reader those of the events up to a position that it wants and sees. */
  const send = async (reader: Reader, items: readonly Item[], position: number): Promise<void> => {
    const { after, isWanted, connection } = reader;
    const wanted = items.filter(({ event, resource }) => event.position > after && isWanted(event, resource));
    await access.shown(position);
    const principal = await readers.rightsOf(reader);
    if (!principal) return;
    const frames = await oneByOne(wanted, async ({ event, frame }) =>
      (await access.judge(event))(principal) ? frame() : undefined,
    );
    const chunk = chunkOf(wanted, frames);
    if (chunk) connection.send(chunk.bytes, chunk.position);
    reader.after = Math.max(after, position);
  };

  /** Reads the log for a reader, until it is at its end or in the window, or does not take what was read. */
  const readLog = async (reader: Reader): Promise<void> => {
    if (readers.isGone(reader)) return;
    const atLeast = window.end();
    for await (const { events, position } of log.readAll(reader.after, typesOf(reader.wanted))) {
      await send(reader, itemsOf(events, access.resourceOf), position);
      if (readers.isGone(reader) || reader.after >= window.start() || !(await isTaken(reader.connection))) return;
    }
    // With a filter, the end of the log is further than the last position that was read.
    reader.after = Math.max(reader.after, atLeast);
  };

  const catchUp = async (reader: Reader): Promise<void> => {
    while (!readers.isGone(reader)) {
      await reader.connection.idle();
      if (reader.after < window.start()) {
        await atLog(() => readLog(reader));
        continue;
      }
      const next = window.after(reader.after, mostAtOnce);
      const last = next.at(-1);
      if (last) await send(reader, next, last.event.position);
      // Nothing is told between the look at the window and this.
      else if (!readers.isGone(reader)) return void readers.live.add(reader);
    }
  };

  /** Makes a reader live. What cannot be read now is tried again; a damaged log breaks the connection off. */
  return async (reader: Reader): Promise<void> => {
    while (!readers.isGone(reader)) {
      try {
        return await catchUp(reader);
      } catch (error) {
        if (!(error instanceof RequestError)) {
          warn('A stream of events broke off', { account: reader.account, after: reader.after, error });
          return reader.connection.destroy();
        }
        await pause(againMs, undefined, { ref: false });
      }
    }
  };
};

/** Whether the reader has taken everything within a short time. */
const isTaken = (connection: Connection): Promise<boolean> => {
  const late = new AbortController();
  return Promise.race([
    connection.idle().then(() => true),
    pause(patienceMs, false, { signal: late.signal, ref: false }).catch(() => false),
  ]).finally(() => late.abort());
};
