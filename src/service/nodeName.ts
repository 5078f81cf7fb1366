import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../config.ts';

/**
 * The name of this node among those that use its log. It is the same after each start, and no other process that runs
 * has it: an embedded log has one process, and each other node locks its folder. Containers may have folders of one
 * path, but not with one inode.
 */
export const nodeNameOf = ({
  EVENTSTORE_URL: at,
  DATA_DIR,
  PORT,
}: Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR' | 'PORT'>): string => {
  if ('file' in at) return 'automation-platform with the log';
  const own = JSON.stringify([PORT, realpathSync(DATA_DIR), statSync(DATA_DIR).ino]);
  return `automation-platform on ${hostname()} (${createHash('sha256').update(own).digest('hex').slice(0, 8)})`;
};
