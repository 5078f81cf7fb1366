import type { Config } from '../config.ts';

/** The file of the log, for a command that a log in EventStoreDB cannot have. */
export const fileOfLog = ({ EVENTSTORE_URL: at }: Pick<Config, 'EVENTSTORE_URL'>, command: string): string => {
  if ('file' in at) return at.file;
  throw new Error(`${command} is for a log in a file (sqlite:); EventStoreDB has backups of its own, or use export`);
};
