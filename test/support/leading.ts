import { type Leadership, newLeadership } from '@automation-platform/concurrency';

/** A lead that nobody else wants. */
export const leading = (): Leadership => {
  const lead = newLeadership();
  lead.set(true);
  return lead;
};
