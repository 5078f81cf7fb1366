import { type Runner, reporters, type Test } from 'mocha';

/**
 * The reporter of `.ci/run`: as `spec`, and names at the end each test that failed the first time and passed the second
 * time, with its error. Such a test depends on the machine, and is to be mended.
 */
export default class CiReporter extends reporters.Spec {
  private readonly retried: { readonly test: Test; readonly error: Error }[] = [];

  constructor(runner: Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on('retry', (test: Test, error: Error) => this.retried.push({ test, error }));
  }

  override epilogue(): void {
    super.epilogue();
    if (this.retried.length === 0) return;
    console.log(`  ${this.retried.length} tried again after a failure:\n`);
    for (const { test, error } of this.retried) console.log(`  ${test.fullTitle()}\n    ${error.stack ?? error}\n`);
  }
}
