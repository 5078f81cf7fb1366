export {
  type AuditDenial,
  type AuditEvent,
  type AuditHistoryEntry,
  AuditRefused,
  type AuditSearch,
  type AuditTrace,
  audit,
  type PatchOperation,
  type Platform,
  type RestoreAsked,
  type Restored,
} from './audit.ts';
export type { Auth } from './auth.ts';
export { EventStreamEnded, type PlatformEvent, type Subscription, subscribe } from './subscribe.ts';
export { type AtWork, type Job, type Progress, type Work, WorkRefused, work } from './work.ts';
