import { logUrl } from './url.ts';

const usualKeepAliveTimeout = 10_000;

/** A URL as it may be logged: without user and password. */
export const redacted = (url: string): string => url.replace(/^([a-z+]+:\/\/|esdb[a-z+]*:)?[\s\S]*@/i, '$1***@');

/** The connection string for the client's n-th connection. Throws an error, which shows no password, when the URL is no good. */
export const connectionString = (url: string, generation: number): string => {
  try { logUrl(url); } catch (error) { throw new Error(`${redacted(url)}: ${(error as Error).message}`); }
  const [address = '', query = ''] = url.split('?');
  const timeout = Number(/(?:^|&)keep[_-]?alive[_-]?timeout=(-?\d+)/i.exec(query)?.[1] ?? usualKeepAliveTimeout);
  // Connections with equal options share one TCP connection; each is to have its own.
  const own = timeout >= 0 ? [`keepAliveTimeout=${timeout + generation}`] : [];
  // A slash would be taken as part of the host.
  return `${address.replace(/\/+$/, '')}?${[query, ...own, 'throwOnAppendFailure=true'].filter(Boolean).join('&')}`;
};
