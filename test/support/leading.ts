import { type Leadership, newLeadership } from '../../src/concurrency/leadership.ts';

/** A lead that nobody else wants. */
export const leading = (): Leadership => {
  const lead = newLeadership();
  lead.set(true);
  return lead;
};
