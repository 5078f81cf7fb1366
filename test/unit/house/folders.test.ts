import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

const test = new URL('../../', import.meta.url);
const namesIn = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, test), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const textOf = (file: string): string => readFileSync(new URL(file, test), 'utf8');

/** Helpers of sweeps that take minutes. */
const sweeps = /support\/(killing|load|loadCheck)\.ts'/;

// That a test of test/unit opens no socket and starts no process is checked while it runs (test/support/hooks.ts).
describe('the folders of tests', () => {
  it('are unit, service and soak, with a folder for each subject', () => {
    const placed = /^(unit|service|soak)\/[a-z]+\/\w+\.test\.ts$/;
    const odd = namesIn('.').filter((name) => name.endsWith('.test.ts') && !placed.test(name));
    assert.deepEqual(odd, []);
  });

  it('of a package are unit and service', () => {
    const placed = /^[a-z-]+\/test\/(unit|service)\/\w+\.test\.ts$/;
    const odd = namesIn('../packages/').filter((name) => /\.test\.ts$/.test(name) && !placed.test(name));
    assert.deepEqual(odd, []);
  });

  for (const folder of ['unit', 'service'])
    for (const name of namesIn(`${folder}/`)) {
      const text = textOf(`${folder}/${name}`);
      if (sweeps.test(text)) it(`${folder}/${name} leaves its sweeps to soak`, () => assert.match(text, /itInSoak\(/));
    }
});
