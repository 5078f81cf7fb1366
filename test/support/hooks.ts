import '../../src/process/soundJson.ts';
import './cheapPasswords.ts';
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Context } from 'mocha';
import { startReaper } from './reaper.ts';
import { endTest } from './until.ts';
import { startWatchdog } from './watchdog.ts';

// Deprecated calls of packages: grpc-js names an address as the server of a TLS connection where tests dial an address.
const knownDeprecations = ['DEP0123'];

/** Calls that Node deprecates, from our code or that of packages. */
const deprecated: Error[] = [];
process.on('warning', (warning: Error & { readonly code?: string }) => {
  if (warning.name === 'DeprecationWarning' && !knownDeprecations.includes(warning.code ?? ''))
    deprecated.push(warning);
});

/** What tests have opened and not closed yet, with the place that did. */
const open = new Map<object, string>();

/** The processes that the present test has started itself. */
const ownProcesses = new Set<ChildProcess>();

// How long what has been told to end may take for it, and how long the process may take when nothing is left to do.
const graceMs = 60_000;
const endMs = 60_000;
// How long one turn of the event loop may take: no timeout of mocha's is heard meanwhile.
const standstillMs = Number(process.env.TEST_STANDSTILL_MS ?? 300_000);

/** Processes and servers that a test of `test/unit` has opened: it belongs to `test/service`. */
const notUnit: string[] = [];

/** Notes what a test opens. A thread of the compiler, for example, is not opened by a test. */
const noteOpened = (thing: object, what: string): void => {
  const where = place();
  if (where === '') return;
  open.set(thing, `${what}: ${where}`);
  if (where.includes('test/unit/') && !(thing instanceof Worker)) notUnit.push(`${what}: ${where}`);
};

/**
 * The lines of a stack that are the tests' own; '' without any, or where the compiler of tests starts a thread for
 * itself.
 */
const place = (): string => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const stack = new Error().stack ?? '';
  Error.stackTraceLimit = before;
  if (stack.includes('/node_modules/esbuild/')) return '';
  const lines = stack.split('\n').filter((line) => line.includes('/test/') && !line.includes('/test/support/hooks.ts'));
  return lines.map((line) => line.trim().replace(/file:\/\/\S*\/test\//, 'test/')).join(' < ');
};

// Both before anything is noted: they are there until the end. What the watchdog kills, the reaper clears away.
const reaper = startReaper();
const watchdog = startWatchdog(standstillMs);
subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  noteOpened(child, 'a process');
  ownProcesses.add(child);
  const gone = () => {
    open.delete(child);
    ownProcesses.delete(child);
  };
  child
    .once('exit', gone)
    .once('error', gone)
    .once('spawn', () => reaper.watch(child));
});
subscribe('worker_threads', (message) => {
  const { worker } = message as { worker: Worker };
  noteOpened(worker, 'a thread (a log, a renderer, ...)');
  worker.once('exit', () => open.delete(worker));
});
const { listen } = Server.prototype;
Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  noteOpened(this, 'a server');
  this.once('close', () => open.delete(this)).once('error', () => {
    if (!this.listening) open.delete(this);
  });
  return (listen as (...all: unknown[]) => Server).apply(this, args);
} as typeof listen;

const close = async (thing: object): Promise<void> => {
  if ('terminate' in thing) await (thing as Worker).terminate();
  else if ('close' in thing) (thing as Server).close();
  else (thing as ChildProcess).kill('SIGKILL');
};

/** Fails when something is left that keeps this process from its end, names it, and closes it. */
const nothingLeft = async (): Promise<void> => {
  const late = performance.now() + graceMs;
  while (open.size > 0 && performance.now() < late) await pause(20);
  const left = [...open.values()];
  for (const thing of open.keys()) await close(thing);
  if (left.length > 0) throw new Error(`Left open by tests:\n${left.join('\n')}`);
};

/** Ends this process when it does not end by itself: late enough for the reporter to say how the tests went. */
const endSoon = (): void => {
  // The timer does not keep the process: it fires only if something else does.
  setTimeout(() => {
    process.stderr.write(
      `The tests are over, but the process goes on: ${[...process.getActiveResourcesInfo(), ...open.values()].join(', ')}\n`,
    );
    process.exit(process.exitCode || 1);
  }, endMs).unref();
};

export const mochaHooks = {
  beforeAll(): void {
    watchdog.begins('the first test');
  },
  beforeEach(this: Context): void {
    watchdog.begins(`${this.currentTest?.file}: ${this.currentTest?.fullTitle()}`);
    ownProcesses.clear();
  },
  // A test that failed may not have come to the end of what it started. The tests after it go without that.
  afterEach(this: Context): void {
    endTest();
    if (!this.currentTest?.isPassed()) for (const child of ownProcesses) child.kill('SIGKILL');
    const found = notUnit.splice(0);
    if (found.length > 0) throw new Error(`A test of test/unit opens a process or a server:\n${found.join('\n')}`);
  },
  async afterAll(): Promise<void> {
    try {
      await nothingLeft();
    } finally {
      if (!process.env.MOCHA_WORKER_ID) endSoon();
    }
    if (deprecated.length > 0) throw new Error(`Deprecated calls:\n${deprecated.map(({ stack }) => stack).join('\n')}`);
  },
};
