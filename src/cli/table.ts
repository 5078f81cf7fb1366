import { accountPasswd } from './commands/accountPasswd.ts';
import { auditCommands } from './commands/audit.ts';
import { auditVerify } from './commands/auditVerify.ts';
import { backup } from './commands/backup.ts';
import { completion } from './commands/completion.ts';
import { eventsPublish } from './commands/eventsPublish.ts';
import { eventsTail } from './commands/eventsTail.ts';
import { exportLog } from './commands/export.ts';
import { importLog } from './commands/import.ts';
import { inventorySync } from './commands/inventorySync.ts';
import { accept } from './commands/logAccept.ts';
import { copy } from './commands/logCopy.ts';
import { migrate } from './commands/migrate.ts';
import { rebuild } from './commands/rebuild.ts';
import { replay } from './commands/replay.ts';
import { restore } from './commands/restore.ts';
import { serve } from './commands/serve.ts';
import type { CommandRow } from './engine/command.ts';

/** The commands. Help, completion and docs/cli.md are made from this table. */
export const commands: readonly CommandRow[] = [
  serve,
  accountPasswd,
  copy,
  accept,
  auditVerify,
  eventsTail,
  eventsPublish,
  exportLog,
  importLog,
  backup,
  restore,
  replay,
  rebuild,
  migrate,
  inventorySync,
  ...auditCommands,
  completion,
];
