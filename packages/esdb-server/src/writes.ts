import { type Appended, isMetastream, type NewEvent, sizeFault, WrongRevision } from '@automation-platform/event-log';
import type { May } from './access.ts';
import { wrongVersion } from './expected.ts';
import { accessDenied, badRequest, type Expected, tooLarge } from './faults.ts';
import type { ForeignWrites } from './foreignWrites.ts';
import type { LogToServe } from './port.ts';
import { foreignEvent, ownEvent, type Proposed } from './proposed.ts';

type Needs = {
  readonly store: LogToServe;
  readonly own: (stream: string) => boolean;
  readonly reserved: (type: string) => boolean;
  readonly foreign: ForeignWrites;
};

const fitting = (events: readonly NewEvent[]): readonly NewEvent[] => {
  const fault = sizeFault(events);
  if (fault) throw tooLarge(fault.most, fault.message);
  return events;
};

/** The writes of this protocol. Each is checked against the rights of the caller. */
export const writes = ({ store, own, reserved, foreign }: Needs) => {
  const appendOwn = async (stream: string, expected: Expected, proposed: readonly Proposed[]): Promise<Appended> => {
    if (typeof expected === 'string' && expected !== 'no_stream')
      throw badRequest(`${stream} takes appends at an explicit revision, not at ${expected}`);
    try {
      return await store.append(stream, expected === 'no_stream' ? -1 : expected, fitting(proposed.map(ownEvent)));
    } catch (error) {
      throw error instanceof WrongRevision ? wrongVersion('Append', stream, expected, error.actual) : error;
    }
  };

  /**
   * Throws when the stream is the platform's own or a system stream, or when the caller may not write foreign streams.
   */
  const checkForeign = (may: May, stream: string): void => {
    if (!may('writeStreams')) throw accessDenied('This account may not write streams');
    const named = isMetastream(stream) ? stream.slice(2) : stream;
    if (own(named))
      throw badRequest(`${named} is one of the platform's own streams: it has no metadata, and nobody deletes it`);
    if (named.startsWith('$') || named === '')
      throw badRequest(`${stream} is a system stream of EventStoreDB: this log has none of them`);
  };

  return {
    append: async (may: May, stream: string, expected: Expected, proposed: readonly Proposed[]): Promise<Appended> => {
      if (own(stream)) {
        if (!may('writeLog')) throw accessDenied(`This account may not write ${stream}, which is the platform's own`);
        return appendOwn(stream, expected, proposed);
      }
      checkForeign(may, stream);
      const created = new Date();
      const toEvent = (event: Proposed): NewEvent => {
        if (reserved(event.type) && !event.type.startsWith('$'))
          throw badRequest(`${event.type} begins with @platform/, or looks so: such types are the platform's own`);
        return foreignEvent(stream, event, created);
      };
      return foreign.append(stream, expected, fitting(proposed.map(toEvent)));
    },
    /** Deletes a stream. With `forEver` it can never be written again. */
    remove: async (may: May, stream: string, expected: Expected, forEver: boolean): Promise<Appended> => {
      checkForeign(may, stream);
      if (isMetastream(stream)) throw badRequest(`${stream} has the metadata of a stream: delete the stream`);
      return forEver ? foreign.end(stream, expected) : foreign.remove(stream, expected);
    },
  };
};

export type Writes = ReturnType<typeof writes>;
