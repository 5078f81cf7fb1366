import { type Lead, newLead } from '../src/projections/engine/lead.ts';

/** A lead that nobody else wants. */
export const leading = (): Lead => {
  const lead = newLead();
  lead.set(true);
  return lead;
};
