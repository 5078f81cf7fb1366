/** Writes a line for the operator: a message, and the things that it is about. */
export type Log = (message: string, about: Record<string, unknown>) => void;
