const settings = [
  'connectionName', 'defaultDeadline', 'discoveryInterval', 'gossipTimeout', 'keepAliveInterval', 'keepAliveTimeout', 'maxDiscoverAttempts',
  'nodePreference', 'throwOnAppendFailure', 'tls', 'tlsCAFile', 'tlsVerifyCert', 'userCertFile', 'userKeyFile',
];

// As the client compares them.
const flat = (name: string): string => name.trim().toLowerCase().replace(/[_-]/g, '');

const usualKeepAliveTimeout = 10_000;

/** A URL as it may be logged: without user and password. */
export const redacted = (url: string): string => url.replace(/^([a-z+]+:\/\/|esdb[a-z+]*:)?[\s\S]*@/i, '$1***@');

/**
 * The connection string for the client's n-th connection. Throws an error, which shows no password, when the URL has a
 * setting that the client does not know (it would print the whole URL) or that would have another effect than it says.
 */
export const connectionString = (url: string, generation: number): string => {
  const refuse = (why: string): never => { throw new Error(`${redacted(url)}: ${why}`); };
  const [, scheme, credentials = '', rest = ''] = /^(esdb(?:\+discover)?:\/\/)([^:]+:[^@]+@)?(.*)$/.exec(url.trim()) ?? refuse('must be esdb://host:port or esdb+discover://host:port');
  const [hosts = '', ...queries] = rest.split('?');
  const query = queries.join('&');
  const given = new Map(query.split('&').filter(Boolean).map((pair) => {
    const [name = '', value = ''] = pair.split('=');
    return [flat(name), value.trim()];
  }));
  const known = settings.map(flat);
  if ([...given.keys()].some((name) => !known.includes(name))) refuse(`has an unknown setting; known are ${settings.join(', ')}`);
  if (credentials && given.get('tls') === 'false') refuse('with tls=false no user and password are sent; leave out one or the other');
  if (given.get('tlsverifycert') === 'false') refuse('tlsVerifyCert=false has no effect; name the authority\'s certificate with tlsCAFile');
  if (given.get('throwonappendfailure') === 'false') refuse('throwOnAppendFailure=false is not supported; leave it out');
  const timeout = Number(given.get(flat('keepAliveTimeout')) ?? usualKeepAliveTimeout);
  // Connections with equal options share one TCP connection; each is to have its own.
  const own = timeout >= 0 ? [`keepAliveTimeout=${timeout + generation}`] : [];
  return `${scheme}${credentials}${hosts.replace(/\/+$/, '')}?${[query, ...own, 'throwOnAppendFailure=true'].filter(Boolean).join('&')}`;
};
