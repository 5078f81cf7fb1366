import { type Moment, momentOf } from '../../domain/engine/moments.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Outgoing } from './outgoing.ts';
import { formDecoded } from './query.ts';
import type { Route } from './route.ts';
import type { Service } from './service.ts';

/** The name of the query parameter, and of the header that answers it. */
export const asOfParameter = 'asOf' as const;
export const asOfHeader = 'X-As-Of-Position' as const;

/** The service as of a position, as one caller may see it now. */
export type Past = { readonly position: number; readonly service: Service };

/** True if a route changes nothing and answers from read models alone. Then its query takes `asOf`. */
export const takesAsOf = (route: Route): boolean => ('run' in route ? route.reads === true : !('command' in route));

/** The query string without `asOf`, and the texts that were given for it. */
export const splitAsOf = (querystring: string): { readonly texts: readonly string[]; readonly rest: string } => {
  if (!querystring.includes('as')) return { texts: [], rest: querystring };
  const texts: string[] = [];
  const rest: string[] = [];
  for (const pair of querystring.split('&')) {
    const [name = '', ...value] = pair.split('=');
    if (formDecoded(name) === asOfParameter) texts.push(formDecoded(value.join('=')) ?? '');
    else rest.push(pair);
  }
  return { texts, rest: rest.join('&') };
};

/** The moment that a request asks for; undefined: now. Throws `invalid`. */
export const momentIn = (texts: readonly string[]): Moment | undefined => {
  const [text, ...more] = texts;
  if (text === undefined) return undefined;
  if (more.length > 0) throw wrong('asOf is given more than once');
  const moment = momentOf(text);
  if (!moment)
    throw wrong(
      'asOf must be a position (digits), or a time such as 2026-01-31T08:00:00Z or with %2B02:00 for an offset',
    );
  return moment;
};

const wrong = (message: string): RequestError => new RequestError('invalid', message, { path: asOfParameter });

/** The answer with the position that it shows. Its tag is never one of an answer as of now. */
export const withPosition = (outgoing: Outgoing, position: number): Outgoing => {
  const headers = { ...outgoing.headers, [asOfHeader]: String(position) };
  if (outgoing.etag === undefined) return { ...outgoing, headers };
  return { ...outgoing, headers, etag: `"${outgoing.etag.slice(1, -1)}@${position}"` };
};
