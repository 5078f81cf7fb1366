import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type Report = {
  readonly diagnostics: readonly {
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
};

const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');

/** Where the sources break a rule of Biome's, whether or not the rule fails the build. */
const placesOf = (rule: string): readonly { readonly path: string; readonly line: number }[] => {
  const most = ['--max-diagnostics=none', '--reporter=json'];
  const options = { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 << 20 } as const;
  const report: Report = JSON.parse(
    execFileSync(process.execPath, [biome, 'lint', ...most, `--only=${rule}`, 'src'], options),
  );
  return report.diagnostics.map(({ location: { path, start } }) => ({ path, line: start.line }));
};

/** Whether the line, or one of the three before it, has a comment: the reason. */
const hasReason = ({ path, line }: { readonly path: string; readonly line: number }): boolean => {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.slice(Math.max(0, line - 4), line).some((text) => /\/\/|\*\//.test(text));
};

const spots = (places: readonly { readonly path: string; readonly line: number }[]): readonly string[] =>
  places.map(({ path, line }) => `${path}:${line}`);

describe('what the type checker does not see', () => {
  it('is told to look away at most 15 times, each with its reason', () => {
    const places = placesOf('suspicious/noExplicitAny');
    assert.ok(places.length > 0, 'Biome reports nothing');
    assert.ok(places.length <= 15, spots(places).join('\n'));
    assert.deepEqual(spots(places.filter((place) => !hasReason(place))), []);
  });

  it('is asserted with ! at most 55 times, each with its reason', () => {
    const places = placesOf('style/noNonNullAssertion');
    assert.ok(places.length <= 55, spots(places).join('\n'));
    assert.deepEqual(spots(places.filter((place) => !hasReason(place))), []);
  });
});
