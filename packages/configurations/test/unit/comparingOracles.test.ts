import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { linearPattern } from '@automation-platform/bounded-schemas';
import {
  compareLines,
  goldenLines,
  type Lines,
  nestedLines,
  readConfiguration,
  readGolden,
  type Written,
  writeLines,
} from '../../src/index.ts';
import { applied, isOfDevice, remedied } from '../support/remedies.ts';

/* What other programs say of the same texts. Nothing of them is in this repository (CONTRIBUTING.md). */

const folder = process.env.TEST_CONFIGURATIONS ?? '';
const inside = (...names: string[]): readonly string[] => {
  const path = join(folder, ...names);
  return folder !== '' && existsSync(path) ? readdirSync(path).sort() : [];
};
const read = (...names: string[]): string => readFileSync(join(folder, ...names), 'utf8');

const compile = (expression: string) => {
  const { expression: pattern } = linearPattern(expression, {});
  return (text: string): boolean => pattern.matcher(text).find();
};

const goldenOf = (text: string, type: string) => {
  const lines = readConfiguration(text, type);
  return readGolden(writeLines(goldenLines(nestedLines(lines)), { type, paths: lines.paths }), type, compile, {
    bounds: { bytes: Number.POSITIVE_INFINITY, lines: 200_000 },
  });
};

/** The issues of a comparison of a text with one that is golden, as paths. */
const issuesOf = (intended: string, actual: string, type: string): ReadonlySet<string> => {
  const { issues } = compareLines(goldenOf(intended, type), readConfiguration(actual, type), (words) => words);
  return new Set(
    issues.map(({ parents, spec }) => plain([...parents, spec.words.map(({ value }) => value).join(' ')].join(' > '))),
  );
};

const plain = (text: string): string => text.replaceAll('\0', '');

/** The lines of a text as paths. */
const pathsOf = ({ texts, ends }: Lines): ReadonlySet<string> => {
  const open: { readonly end: number; readonly path: string }[] = [];
  return new Set(
    texts.map((text, i) => {
      while ((open.at(-1)?.end ?? Infinity) <= i) open.pop();
      const path = [...open.map((one) => one.path), plain(text)].join(' > ');
      open.push({ end: ends[i] ?? 0, path: plain(text) });
      return path;
    }),
  );
};

/** Those of the paths that no other one goes on from. */
const lastOnes = (paths: ReadonlySet<string>): readonly string[] => {
  const all = [...paths].sort();
  return all.filter((path, i) => !all[i + 1]?.startsWith(`${path} > `));
};

const missingIn = (text: string, type: string): readonly string[] =>
  text.trim() === '' ? [] : lastOnes(pathsOf(readConfiguration(text, type)));

type Feature = { readonly intended: string; readonly actual: string; readonly missing: string };

describe('Comparing, as other programs compare', function () {
  this.timeout(60_000);
  const named: Readonly<Record<string, string>> = { bigip_f5: 'f5-bigip', cisco_nxos: 'cisco-nx' };

  it('finds the lines missing that netutils finds', function () {
    const systems = inside('netutils');
    if (systems.length === 0) return this.skip();
    let count = 0;
    const differ = new Set<string>();
    for (const system of systems)
      for (const file of inside('netutils', system).filter((name) => name.endsWith('_received.json'))) {
        const type = named[system] ?? system.replaceAll('_', '-');
        const features: Record<string, Feature> = JSON.parse(read('netutils', system, file));
        for (const [feature, { intended, actual, missing }] of Object.entries(features)) {
          count++;
          const found = intended.trim() === '' ? [] : lastOnes(issuesOf(intended, actual || '!', type));
          if (!isDeepStrictEqual(found, missingIn(missing, type))) differ.add(`${system} ${feature}`);
        }
      }
    assert.ok(count >= 100, `${count} features`);
    // Their lines stand below other ones there: sections of this system are not told by indentation alone.
    assert.deepEqual([...differ], ['rad_etx management', 'rad_etx router']);
  });

  it('finds the lines missing that hier_config adds', function () {
    const files = inside('hier_config').filter((name) => name.endsWith('_running.conf'));
    if (files.length === 0) return this.skip();
    const types: Readonly<Record<string, string>> = {
      ...{ comware5: 'hp-comware', eos: 'arista-eos', fortios: 'fortinet-fortios', ios: 'cisco-ios' },
      ...{ iosxr: 'cisco-ios-xr', junos: 'juniper-junos', nxos: 'cisco-nx', procurve: 'hp-procurve', vyos: 'vyos' },
    };
    const differ = files.flatMap((file) => {
      const system = file.replace('_running.conf', '');
      const type = types[system] ?? system;
      const wanted = read('hier_config', `${system}_generated.conf`);
      const found = lastOnes(issuesOf(wanted, read('hier_config', file), type));
      const inWanted = pathsOf(readConfiguration(wanted, type));
      const sent = pathsOf(readConfiguration(read('hier_config', `${system}_remediation.conf`), type));
      // Negations are lines of the device as well, where it is to have them.
      const added = lastOnes(new Set([...sent].filter((path) => inWanted.has(path))));
      return isDeepStrictEqual(found, added) ? [] : [[system, found, added]];
    });
    assert.deepEqual(differ, []);
  });

  /** The names of configurations that can be read. Those that cannot are no texts, such as UTF-16, or broken on purpose. */
  const isReadable = (type: string, file: string): boolean => {
    try {
      readConfiguration(read('configurations', type, file), type);
      return true;
    } catch {
      return false;
    }
  };

  it('finds nothing in a configuration that is golden itself', function () {
    const systems = inside('configurations');
    if (systems.length === 0) return this.skip();
    const differ: string[] = [];
    const unreadable: string[] = [];
    let count = 0;
    for (const type of systems)
      for (const file of inside('configurations', type)) {
        if (!isReadable(type, file)) unreadable.push(file);
        else {
          const text = read('configurations', type, file);
          count++;
          const issues = [...issuesOf(text, text, type)];
          if (issues.length > 0) differ.push(`${type}/${file}: ${issues.slice(0, 3).join(' | ')}`);
        }
      }
    assert.ok(unreadable.length <= count / 100, `cannot be read: ${unreadable.join(', ')}`);
    assert.deepEqual([count, differ], [count, []]);
  });

  /** The lines of a configuration as golden ones; `place` of each tells which must not be there. */
  const goldenText = (text: string, type: string, isUnwanted: (place: number) => boolean = () => false): string => {
    let place = 0;
    const tagged = (lines: readonly Written[]): readonly Written[] =>
      lines.map(({ text: line, lines: below }) =>
        below.length === 0 && isUnwanted(place++)
          ? { text: `{d/}${line}`, lines: [] }
          : { text: line, lines: tagged(below) },
      );
    const lines = readConfiguration(text, type);
    return writeLines(tagged(goldenLines(nestedLines(lines))), { type, paths: lines.paths });
  };

  it('leaves only what is done by hand, once what it proposes is applied', function () {
    const systems = inside('configurations');
    if (systems.length === 0) return this.skip();
    const differ: string[] = [];
    let proposed = 0;
    let count = 0;
    for (const type of systems) {
      const files = inside('configurations', type).filter(
        (file) => isReadable(type, file) && isOfDevice(read('configurations', type, file), type),
      );
      for (const [i, file] of files.entries()) {
        const text = read('configurations', type, file);
        count++;
        const other = read('configurations', type, files[(i + 1) % files.length] ?? file);
        for (const golden of [goldenText(other, type), goldenText(text, type, (place) => place % 5 === 4)]) {
          const remedy = remedied(golden, text, type);
          proposed += remedy.lines.length;
          const { lines } = remedied(golden, applied(text, remedy, type), type);
          if (lines.length > 0) differ.push(`${type}/${file}: ${JSON.stringify(lines.slice(0, 2))}`);
        }
      }
    }
    assert.deepEqual([proposed > count, differ], [true, []]);
  });
});
