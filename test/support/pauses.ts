/** Pauses of a reader of the log that cost tests no time. */
export const shortPauses = { placeMs: 20, tryMs: 2 };
