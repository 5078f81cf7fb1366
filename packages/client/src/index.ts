export { TooLong, textOf } from './answers.ts';
export {
  type AuditDenial,
  type AuditEvent,
  type AuditHistoryEntry,
  AuditRefused,
  type AuditSearch,
  type AuditTrace,
  audit,
  type PatchOperation,
  type RestoreAsked,
  type Restored,
} from './audit.ts';
export { type Auth, authorizationOf } from './auth.ts';
export { type Answer, type CallFault, CallRefused, calls } from './calls.ts';
export { plainText, wordsIn } from './messages.ts';
export type { Operations, Schemas } from './operations.ts';
export type { Platform } from './request.ts';
export { EventStreamEnded, type PlatformEvent, type Subscription, subscribe } from './subscribe.ts';
export { withinTime } from './withinTime.ts';
export {
  type AtWork,
  type Job,
  type Progress,
  type Task,
  type TaskWork,
  type Work,
  WorkRefused,
  work,
} from './work.ts';
