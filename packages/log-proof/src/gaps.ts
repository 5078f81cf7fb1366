import type { StoredEvent } from '@automation-platform/event-log';
import type { Finding } from './findings.ts';
import { lostRows } from './lostRows.ts';

/** Events of a stream that are missing before a position, as far as is known. One of them may come late. */
type Gap = { readonly stream: string; readonly from: number; readonly to: number; readonly position: number };

const findingOf = ({ stream, from, to, position }: Gap): Finding => {
  const what = from === to ? `Event ${from} of stream ${stream} is` : `Events ${from} to ${to} of stream ${stream} are`;
  return { position, stream, revision: from, finding: 'missing', message: `${what} missing before this position` };
};

/** Collects what is missing: rows of the log, and events of streams that no missing row explains. */
export const gapsOfLog = () => {
  const rows = lostRows();
  let gaps: readonly Gap[] = [];
  return {
    addRows: rows.add,
    /** True if a row that is missing between two positions had an event. */
    isLost: rows.explains,
    /** Notes that events are missing between the position `after` and the one of the gap. */
    add: (gap: Gap, after: number): void => {
      let { from } = gap;
      while (from <= gap.to && rows.explains({ after, before: gap.position }, gap.stream, from)) from++;
      if (from <= gap.to) gaps = [...gaps, { ...gap, from }];
    },
    /** True if an event was missing until it came. */
    isFilledBy: ({ stream, revision }: StoredEvent): boolean => {
      const gap = gaps.find((one) => one.stream === stream && one.from <= revision && revision <= one.to);
      if (!gap) return false;
      const rest = [
        { ...gap, to: revision - 1 },
        { ...gap, from: revision + 1 },
      ];
      gaps = gaps.flatMap((one) => (one === gap ? rest.filter(({ from, to }) => from <= to) : one));
      return true;
    },
    findings: (): readonly Finding[] => [...rows.findings(), ...gaps.map(findingOf)],
  };
};
