/** The text without its percent-encoding; undefined if an escape is malformed or the bytes are no UTF-8. */
export const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** An id of several parts, joined by spaces. Spaces and `%` within the parts are percent-encoded. */
export const naturalKey = (...parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[% ]/g, encodeURIComponent)).join(' ');
