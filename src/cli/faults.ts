import { momentOf } from '../domain/engine/moments.ts';
import { resourceIn } from '../domain/engine/resource.ts';

/** These say why a text cannot be the value of an argument or option; undefined: it can. */
type Fault = (text: string) => string | undefined;

/** An unset variable of a shell would else be a search that finds nothing. */
export const emptyFault: Fault = (text) => (text === '' ? 'It is empty.' : undefined);

export const momentFault: Fault = (text) =>
  momentOf(text) ? undefined : 'It is neither a position nor a time such as 2026-01-31T09:00:00Z.';

export const timeFault: Fault = (text) => {
  const moment = momentOf(text);
  return moment && 'time' in moment ? undefined : 'It is no time such as 2026-01-31T00:00:00Z.';
};

export const resourceFault: Fault = (text) =>
  resourceIn(text) ? undefined : 'It is not <kind>/<id>, such as automation/65f0...';

/** Why a text is no JSON; undefined if it is. The reason repeats nothing of the text. */
export const jsonFault: Fault = (text) => {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'It is no JSON.';
  }
};
