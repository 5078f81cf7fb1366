import { refuse } from './refusals.ts';

/** The moment that a text or a number of milliseconds says. A text without an offset is UTC. */
export const momentOf = (value: unknown, name: string): number => {
  const isText = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) && value.length < 64;
  const text = isText && /T\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(value) ? `${value}Z` : value;
  const at = typeof value === 'number' ? value : Date.parse(isText ? String(text) : '');
  return Math.abs(at) <= 8.64e15 ? at : refuse(`${name} must be a time as in ISO 8601, or milliseconds`);
};

const minutesOf = (sign: string | undefined, hours: string | undefined, minutes: string | undefined): number =>
  (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));

const zonedMinutes = (at: number, zone: string): number => {
  try {
    const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(at);
    const offsetName = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(offsetName) ?? [];
    return hours === undefined ? 0 : minutesOf(sign, hours, minutes);
  } catch {
    return refuse(`The time zone ${JSON.stringify(zone.slice(0, 64))} is unknown`);
  }
};

/** The offset of a time zone from UTC in minutes: `+02:00`, or a name such as `Europe/Berlin`. None is UTC. */
export const offsetOf = (at: number, zone: unknown): number => {
  if (zone === null || zone === undefined || zone === '' || zone === 'Z' || zone === 'UTC') return 0;
  if (typeof zone !== 'string') return refuse('timezone must be a text');
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  return sign === undefined ? zonedMinutes(at, zone) : minutesOf(sign, hours, minutes);
};

const duration =
  /^([+-])?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** The moment a duration later: ISO 8601, or milliseconds. None is no change. */
export const later = (at: number, by: unknown): number => {
  if (by === null || by === undefined || by === '') return at;
  if (typeof by === 'number') return momentOf(at + by, 'The result');
  const found = typeof by === 'string' && by.length < 64 ? duration.exec(by) : null;
  if (!found || /[PT]$/.test(String(by))) return refuse('The duration must be as in ISO 8601, such as PT15M');
  const sign = found[1] === '-' ? -1 : 1;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(2)
    .map((part: string | undefined) => sign * Number(part ?? 0));
  const moved = new Date(at);
  if (years !== 0 || months !== 0) {
    const day = moved.getUTCDate();
    moved.setUTCDate(1);
    moved.setUTCMonth(moved.getUTCMonth() + 12 * years + months);
    const last = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
    moved.setUTCDate(Math.min(day, last));
  }
  const ms = moved.getTime() + (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + Math.round(seconds * 1000);
  return momentOf(ms, 'The result');
};

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');
const names = (kind: 'month' | 'weekday', at: number, width: 'long' | 'short'): string =>
  new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', [kind]: width }).format(at);

const offsetText = (minutes: number, colon: string): string => {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${padded(Math.floor(size / 60), 2)}${colon}${padded(size % 60, 2)}`;
};

type Written = { readonly at: number; readonly date: Date; readonly offset: number };

/** The text for each token of a format. `date` has the local time in its UTC members. */
const tokens: Readonly<Record<string, (time: Written) => string>> = {
  YYYY: ({ date }) => padded(date.getUTCFullYear(), 4),
  YY: ({ date }) => padded(date.getUTCFullYear() % 100, 2),
  MMMM: ({ date }) => names('month', date.getTime(), 'long'),
  MMM: ({ date }) => names('month', date.getTime(), 'short'),
  MM: ({ date }) => padded(date.getUTCMonth() + 1, 2),
  M: ({ date }) => String(date.getUTCMonth() + 1),
  DD: ({ date }) => padded(date.getUTCDate(), 2),
  D: ({ date }) => String(date.getUTCDate()),
  dddd: ({ date }) => names('weekday', date.getTime(), 'long'),
  ddd: ({ date }) => names('weekday', date.getTime(), 'short'),
  HH: ({ date }) => padded(date.getUTCHours(), 2),
  H: ({ date }) => String(date.getUTCHours()),
  hh: ({ date }) => padded(date.getUTCHours() % 12 || 12, 2),
  h: ({ date }) => String(date.getUTCHours() % 12 || 12),
  mm: ({ date }) => padded(date.getUTCMinutes(), 2),
  m: ({ date }) => String(date.getUTCMinutes()),
  SSS: ({ date }) => padded(date.getUTCMilliseconds(), 3),
  sss: ({ date }) => padded(date.getUTCMilliseconds(), 3),
  ss: ({ date }) => padded(date.getUTCSeconds(), 2),
  s: ({ date }) => String(date.getUTCSeconds()),
  A: ({ date }) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  a: ({ date }) => (date.getUTCHours() < 12 ? 'am' : 'pm'),
  ZZ: ({ offset }) => offsetText(offset, ''),
  Z: ({ offset }) => offsetText(offset, ':'),
  X: ({ at }) => String(Math.floor(at / 1000)),
  x: ({ at }) => String(at),
};
const parts = /\[([^\]]*)\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|dddd|ddd|HH|H|hh|h|mm|m|SSS|sss|ss|s|A|a|ZZ|Z|X|x/g;

/** A moment in a time zone by a format such as `YYYY-MM-DD HH:mm:ss`; none is ISO 8601. Brackets keep a text. */
export const written = (at: number, zone: unknown, format: unknown): string => {
  const offset = offsetOf(at, zone);
  const date = new Date(at + offset * 60_000);
  if (Number.isNaN(date.getTime())) return refuse('The time is beyond what can be written');
  if (format !== null && format !== undefined && typeof format !== 'string') return refuse('The format must be a text');
  if (!format) {
    const iso = date.toISOString();
    return offset === 0 ? iso : iso.replace('Z', offsetText(offset, ':'));
  }
  if (format.length > 256) return refuse('A format has 256 characters at most');
  return format.replace(
    parts,
    (token, literal: string | undefined) => literal ?? tokens[token]?.({ at, date, offset }) ?? token,
  );
};
