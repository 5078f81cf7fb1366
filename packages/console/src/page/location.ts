import { computed, signal } from '@preact/signals';

/** The part of the address after `#`, such as `/jobs/65f0?filter=edge`. It is the whole state of a view, so a view can be sent as a link. */
export type Place = { readonly path: readonly string[]; readonly query: Readonly<Record<string, string>> };

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const placeIn = (hash: string): Place => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
};

export const place = signal<Place>(placeIn(location.hash));
addEventListener('hashchange', () => {
  place.value = placeIn(location.hash);
});

/** The moment that the page shows: a position of the log or a time; undefined: now. */
export const asOf = computed<string | undefined>(() => place.value.query.asOf || undefined);

/** The time of that moment, in milliseconds since 1970; undefined: it is now, or a position. */
export const momentTime = computed<number | undefined>(() => {
  const time = /^\d+$/.test(asOf.value ?? '') ? Number.NaN : Date.parse(asOf.value ?? '');
  return Number.isNaN(time) ? undefined : time;
});

type Query = Readonly<Record<string, string | number | undefined>>;

const hashOf = (path: readonly string[], query: Query): string => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
  return `#/${path.map(encodeURIComponent).join('/')}${search.size > 0 ? `?${search}` : ''}`;
};

/** The address of a view, at the moment that the page shows. */
export const linkTo = (path: readonly string[], query: Query = {}): string =>
  hashOf(path, { ...query, asOf: asOf.value });

/** Goes to a view. */
export const goTo = (path: readonly string[], query: Query = {}): void => {
  location.hash = linkTo(path, query);
};

/** Changes members of the query of this view; no value removes one. A text that is being typed is no step to go back to. */
export const setQuery = (changes: Query, isStep = false): void => {
  const { path, query } = place.value;
  const hash = hashOf(path, { ...query, ...changes });
  if (hash === location.hash) return;
  if (isStep) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  place.value = placeIn(hash);
};
