/** The text, or its beginning and an ellipsis if it has more than `most` characters. No surrogate pair is split. */
export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text;

/** True if the text has no half of a surrogate pair. The types of ES2023 lack this method of Node 20. */
export const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();

/** The text without its percent-encoding; undefined if an escape is malformed or the bytes are no UTF-8. */
export const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** Replaces every secret in the text by ********. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  secrets.filter((secret) => secret.length > 0).reduce((text, secret) => text.replaceAll(secret, '********'), text);
