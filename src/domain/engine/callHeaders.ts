const names = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** True for a header that only an HTTP call itself may set. */
export const isSetByCall = (header: string): boolean => names.has(header.toLowerCase());
