/** A text without its percent-encoding; undefined when an escape is no escape, or no UTF-8. */
export const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};
