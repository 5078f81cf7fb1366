import { Type } from 'typebox';
import { aggregate, type EventOf } from './core.ts';
import { text, topicsOf } from './topics.ts';

const topics = topicsOf({
  endedRetired: ['Items that had ended long ago left the read models', Type.Object({ before: text })],
});
/** `before`: what has ended before this time is retired: UTC, ISO 8601 with milliseconds. */
type RetirementEvent = EventOf<typeof topics>;

export type RetirementState = { readonly before?: string };

/**
 * The retirement of one kind of resources, whose category is the id: those that ended long ago leave the read models.
 * Its events have the source of that kind.
 */
export const retirement = aggregate<RetirementState, RetirementEvent>({
  area: 'operations-manager',
  category: 'retirement',
  topics,
  internal: true,
  initial: {},
  evolve: {
    endedRetired: ({ before: last = '' }, { before }) => ({ before: before > last ? before : last }),
  },
  exists: ({ before }) => before !== undefined,
});

/** The lock of decisions that must not cross a retirement: what is retired does not go on. */
export const retirementLock = (kind: string): string => `retirement ${kind}`;

/** Retires what has ended before a time, unless that is done already. */
export const retire = (
  { before: last = '' }: RetirementState,
  { before, source }: { readonly before: string; readonly source: string },
): readonly RetirementEvent[] => (before > last ? [{ topic: 'endedRetired', data: { before }, source }] : []);

/** True if something that has ended at this time, in epoch milliseconds, is retired. */
export const isRetiredBy = ({ before }: RetirementState, endedAt: number): boolean =>
  before !== undefined && endedAt < Date.parse(before);
