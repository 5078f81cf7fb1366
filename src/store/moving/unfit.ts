import { faultOfData } from '../../domain/topics.ts';
import { splitStream, splitType } from '../event.ts';
import { partsNamedBy } from '../payloads.ts';
import type { StoredEvent } from '../port.ts';
import { place } from './appends.ts';

const faultOf = (event: StoredEvent): string | undefined => {
  if (!event.type.startsWith('@platform/') || partsNamedBy(event) !== undefined) return undefined;
  const { category } = splitStream(event.stream);
  try {
    return faultOfData(category, splitType(event.type).topic, JSON.parse(event.data));
  } catch {
    return 'it is no JSON';
  }
};

/**
 * Counts the platform's events that are brought in and whose data do not fit what their topics say: no version of the
 * platform wrote them so. They are brought in all the same, because the log of a disaster may be the only one.
 */
export const unfitEvents = () => {
  let count = 0;
  let first = '';
  return {
    add: (event: StoredEvent): void => {
      const fault = faultOf(event);
      if (fault === undefined) return;
      count++;
      first ||= `the first is at ${place(event)}: ${fault}`;
    },
    /** A line for the operator; none if all events fit. */
    lines: (): readonly string[] =>
      count > 0 ? [`Events that do not say what the platform writes under their topics: ${count}; ${first}`] : [],
  };
};
