export type { Auth } from './requests.ts';
export { EventStreamEnded, type PlatformEvent, type Subscription, subscribe } from './subscribe.ts';
export { type AtWork, type Job, type Progress, type Work, WorkRefused, work } from './work.ts';
