import type { Finding } from './findings.ts';

type Between = { readonly after: number; readonly before: number };

type Lost = { readonly from: number; readonly to: number; used: number; tell: Finding };

/** The rows that are missing in a log whose positions have no gaps. */
export const lostRows = () => {
  const lost: Lost[] = [];

  /** The first missing rows after a position. */
  const firstAfter = (position: number): number => {
    let [low, high] = [0, lost.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const one = lost[middle];
      if (one && one.to <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    /** No rows are there from one position to another. */
    add(from: number, to: number): void {
      const message = from === to ? 'There is no event here' : `There are no events here: ${to - from + 1} are missing`;
      const place = from === to ? { position: from } : { from, to };
      lost.push({ from, to, used: 0, tell: { ...place, finding: 'missing', message } });
    },
    /** True if an event that is missing in a stream was in a row that is missing between two positions. */
    explains({ after, before }: Between, stream: string, revision: number): boolean {
      for (let n = firstAfter(after); n < lost.length; n++) {
        const one = lost[n];
        if (!one || one.from >= before) return false;
        if (one.used > one.to - one.from) continue;
        one.used++;
        if (one.from === one.to) one.tell = { ...one.tell, stream, revision };
        return true;
      }
      return false;
    },
    findings: (): readonly Finding[] => lost.map(({ tell }) => tell),
  };
};
