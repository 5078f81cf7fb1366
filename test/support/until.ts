import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

let test = new AbortController();

/** The test that runs now is over, and another one may begin. */
export const endTest = (): void => {
  test.abort();
  test = new AbortController();
};

/** Aborted once the test that runs now is over, however it has ended. */
export const endOfTest = (): AbortSignal => test.signal;

// The longer a thing takes, the less often it is asked for: asking takes processor time, and files that are opened to
// look stay open until memory is collected.
const impatientMs = 5;
const longestRestMs = 100;

/** Waits until it is so, however long that takes, but no longer than the test: mocha's timeout is the only one. */
export const until = async (so: () => boolean | Promise<boolean>, what = 'what it waits for'): Promise<void> => {
  const end = endOfTest();
  const began = performance.now();
  while (!(await so())) {
    if (end.aborted) {
      // Nobody hears any more how a test goes on that is over.
      process.stderr.write(`The test has ended without ${what}\n`);
      throw new Error(`The test has ended without ${what}`);
    }
    const waited = performance.now() - began;
    await (waited < impatientMs ? turn() : pause(Math.min(waited / 8, longestRestMs)));
  }
};
