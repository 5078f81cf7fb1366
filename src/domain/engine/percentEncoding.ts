/** The text without its percent-encoding; undefined if an escape is malformed or the bytes are no UTF-8. */
export const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};
