/** Decodes UTF-8; throws where the bytes are something else. */
export const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
