/** A moment of the log: a position, or a time in milliseconds since 1970. */
export type Moment = { readonly position: number } | { readonly time: number };

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** True if the calendar has such a day. */
const isDay = (year: number, month: number, day: number): boolean => {
  const date = new Date(Date.UTC(2000, 0, 1));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

/**
 * Reads a position (digits) or a time (RFC 3339, with `Z` or an offset); undefined if the text is neither. Of a
 * fraction of a second only the milliseconds count.
 */
export const momentOf = (text: string): Moment | undefined => {
  if (/^\d{1,15}$/.test(text)) return { position: Number(text) };
  const parts = rfc3339.exec(text);
  if (!parts || !isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return undefined;
  return { time: Date.parse(text.toUpperCase()) };
};
