import { type Appended, WrongRevision } from '../port.ts';
import type { SqliteStore } from '../sqlite.ts';
import type { May } from './access.ts';
import { type Expected, wrongVersion } from './expected.ts';
import { accessDenied, badRequest } from './faults.ts';
import { isMetastream } from './foreignStream.ts';
import type { ForeignWrites } from './foreignWrites.ts';
import { foreignEvent, ownEvent, type Proposed } from './proposed.ts';

type Needs = { readonly store: SqliteStore; readonly own: (stream: string) => boolean; readonly foreign: ForeignWrites };

/** The writes of this protocol, each checked against what the caller may do. */
export const writes = ({ store, own, foreign }: Needs) => {
  const appendOwn = async (stream: string, expected: Expected, proposed: readonly Proposed[]): Promise<Appended> => {
    if (typeof expected === 'string' && expected !== 'no_stream') throw badRequest(`${stream} takes appends at an explicit revision, not at ${expected}`);
    try {
      return await store.append(stream, expected === 'no_stream' ? -1 : expected, proposed.map(ownEvent));
    } catch (error) {
      throw error instanceof WrongRevision ? wrongVersion(stream, expected, error.actual) : error;
    }
  };

  /** Throws unless it is a stream that is nobody's in particular, and the caller may write those. */
  const checkForeign = (may: May, stream: string): void => {
    const named = isMetastream(stream) ? stream.slice(2) : stream;
    if (own(named)) throw accessDenied(`${named} is one of the platform's own streams`);
    if (named.startsWith('$') || named === '') throw accessDenied(`${stream} is a system stream`);
    if (!may('writeStreams')) throw accessDenied('This account may not write streams');
  };

  return {
    append: async (may: May, stream: string, expected: Expected, proposed: readonly Proposed[]): Promise<Appended> => {
      if (own(stream)) {
        if (!may('writeLog')) throw accessDenied(`This account may not write ${stream}, which is the platform's own`);
        return appendOwn(stream, expected, proposed);
      }
      checkForeign(may, stream);
      const created = new Date();
      return foreign.append(stream, expected, proposed.map((event) => foreignEvent(stream, event, created)));
    },
    /** Deletes a stream, with `forEver` so that it can never be written again. */
    remove: async (may: May, stream: string, expected: Expected, forEver: boolean): Promise<Appended> => {
      checkForeign(may, stream);
      if (isMetastream(stream)) throw accessDenied(`${stream} goes with its stream`);
      return forEver ? foreign.end(stream, expected) : foreign.remove(stream, expected);
    },
  };
};

export type Writes = ReturnType<typeof writes>;
