import { parentPort, workerData } from 'node:worker_threads';
import { makeKey } from '../../src/secrets/secrets.ts';

const { file, ready, all } = workerData as { file: string; ready: Int32Array; all: number };

// All begin at the same moment.
Atomics.add(ready, 0, 1);
while (Atomics.load(ready, 0) < all);
parentPort!.postMessage(Buffer.from(makeKey(file)).toString('hex'));
