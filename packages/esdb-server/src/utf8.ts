/** Decodes UTF-8. Throws when the bytes are not UTF-8. */
export const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
