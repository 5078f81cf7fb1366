export { fairQueue } from './fairQueue.ts';
export { mutex } from './mutex.ts';
export { turns } from './turns.ts';
