import { type Counted, type DeniedRequest, denied } from '../domain/authorization/requestRecords.ts';
import { termOf } from '../store/auditIndex/found.ts';
import { decode, splitStream } from '../store/event.ts';
import type { StoredEvent } from '../store/port.ts';
import { placeIn } from './cursors.ts';
import type { AuditPage, PageAsked } from './findEvents.ts';
import { type Between, isBetween, momentIn, rangeOf } from './moments.ts';
import { type AuditSources, readNewest } from './reading.ts';

/** Refused requests of the same kind, counted for some seconds. */
export type Denial = DeniedRequest & { readonly count: number; readonly first: string; readonly last: string };

const topic = 'requestsDenied';

const tallyIn = (stored: StoredEvent): Counted<DeniedRequest> | undefined => {
  if (splitStream(stored.stream).category !== denied.category) return undefined;
  try {
    const event = decode(stored);
    return event.topic === topic ? (event.data as Counted<DeniedRequest>) : undefined;
  } catch {
    return undefined;
  }
};

/** Requests that were refused, the newest first. Rows that were counted together come in the order of their first. */
export const findDenials = async (
  sources: Pick<AuditSources, 'log' | 'index'>,
  between: Between,
  { limit, cursor }: PageAsked,
): Promise<AuditPage<Denial>> => {
  // Rows are stored after they were counted, so only a position can say where to begin.
  const until =
    between.until !== undefined && 'position' in momentIn(between.until, 'until') ? between.until : undefined;
  const { after, before } = await rangeOf(sources, { since: between.since, until });
  const place = cursor === undefined ? undefined : placeIn(cursor);
  const inTime = isBetween(between);
  const results: Denial[] = [];
  let next: string | undefined;
  const range = { after, before: Math.min(before, (place?.position ?? Infinity) + 1) };
  const rest = await readNewest(sources, [termOf('topic', topic)], range, (stored) => {
    const tally = tallyIn(stored);
    if (!tally || !inTime(tally.first, tally.last)) return true;
    const from = stored.position === place?.position ? place.index : 0;
    const rows = tally.rows.slice(from, from + limit - results.length);
    results.push(...rows.map((row) => ({ ...row, first: tally.first, last: tally.last })));
    if (results.length < limit) return true;
    next = `${stored.position}.${from + rows.length}`;
    return false;
  });
  return { results, cursor: next ?? (rest === undefined ? null : `${rest - 1}.0`) };
};
