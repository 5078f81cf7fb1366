/** An id of several parts, joined by spaces. Spaces and `%` within the parts are percent-encoded. */
export const naturalKey = (...parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[% ]/g, encodeURIComponent)).join(' ');
