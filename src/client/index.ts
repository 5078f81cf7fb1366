export { type Auth, EventStreamEnded, type PlatformEvent, type Subscription, subscribe } from './subscribe.ts';
