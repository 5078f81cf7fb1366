import type { Context } from '../engine/core.ts';
import { hasEnded, type JobEvent, type JobState } from './jobs.ts';

/**
 * Ends a job in error because something that it needs is gone. `claim`: the claim at whose step it ends; null: nobody
 * works on it. Somebody who has claimed it since comes to a step of their own.
 */
export const endGone = (
  state: JobState,
  { reason, claim }: { readonly reason: string; readonly claim: number | null },
): readonly JobEvent[] => {
  const held = state.claims.held?.claim ?? null;
  return hasEnded(state) || held !== claim ? [] : [{ topic: 'jobErrored', data: { error: reason } }];
};

export const msOfHours = (hours: number): number => hours * 3_600_000;

/**
 * Ends a job in error of which nothing was heard for so many hours, unless something has happened since. `lastEvent`: when
 * its last event happened, as whoever counts the time knows it.
 */
export const timeOut = (
  state: JobState,
  { hours, lastEvent }: { readonly hours: number; readonly lastEvent: string },
  { refs }: Context<{ readonly lastEvent: string | undefined }>,
): readonly JobEvent[] => {
  if (hasEnded(state) || refs.lastEvent !== lastEvent) return [];
  return [{ topic: 'jobErrored', data: { error: `Nothing has happened for ${hours} hours (JOB_TIMEOUT)` } }];
};
