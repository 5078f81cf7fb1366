import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  changedItems,
  diffTexts,
  diffUnits,
  masking,
  piecesOf,
  storedDifference,
  textAfter,
  unifiedDiff,
  unmarked,
  wordsOf,
} from '../../src/index.ts';

const items = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
const word = fc.constantFrom('a', 'b', ' ', '\n', '\n', 'password ', '"a b"', '\t', '\0', '\u{1F600}');
const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));

/** The fewest items to remove and to add, by the table of all pairs. */
const fewest = (a: readonly string[], b: readonly string[]): number => {
  let below = new Array<number>(b.length + 1).fill(0);
  for (let i = a.length - 1; i >= 0; i--) {
    const row = new Array<number>(b.length + 1).fill(0);
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    below = row;
  }
  return a.length + b.length - 2 * (below[0] ?? 0);
};

describe('Differences of lists', () => {
  it('lead from one to the other in the fewest steps', () => {
    fc.assert(
      fc.property(items, items, (a, b) => {
        const pieces = piecesOf(changedItems(a, b));
        assert.deepEqual(
          pieces.flatMap(({ first }) => a.slice(...first)),
          a,
        );
        assert.deepEqual(
          pieces.flatMap(({ second }) => b.slice(...second)),
          b,
        );
        for (const { equal, first, second } of pieces)
          if (equal) assert.deepEqual(a.slice(...first), b.slice(...second));
        const changed = pieces.filter(({ equal }) => !equal);
        const steps = changed.reduce((sum, { first, second }) => sum + first[1] - first[0] + second[1] - second[0], 0);
        assert.equal(steps, fewest(a, b));
      }),
    );
  });

  it('are found where nearly nothing is in its place', () => {
    const many = Array.from({ length: 5000 }, (_, i) => String((i * 7919) % 50));
    const pieces = piecesOf(changedItems(many, many.toReversed()));
    assert.deepEqual(
      pieces.flatMap(({ second }) => many.toReversed().slice(...second)),
      many.toReversed(),
    );
  });
});

describe('Differences of texts', () => {
  it('join to both texts in each unit, with the same secrets masked', () => {
    const shownAs = (of: string, unit: 'word' | 'line' | 'char') =>
      diffTexts(of, of, unit)
        .map(([, part]) => part)
        .join('');
    fc.assert(
      fc.property(text, text, fc.constantFrom(...diffUnits), (first, second, unit) => {
        const parts = diffTexts(first, second, unit);
        for (const [side, whole] of [
          [-1, first],
          [1, second],
        ] as const) {
          const joined = parts.filter(([of]) => of === 0 || of === side).map(([, part]) => part);
          assert.equal(joined.join(''), shownAs(whole, unit));
        }
      }),
    );
  });

  it('show a changed secret as removed and added, and nowhere in clear', () => {
    for (const [unit, before] of diffUnits.flatMap((unit) => ['', '\0', 'a\0'].map((text) => [unit, text] as const))) {
      const [first, second] = ['one', 'two'].map((word) => `${before}enable secret 5 hidden-${word}\nend`);
      const parts = diffTexts(first ?? '', second ?? '', unit);
      assert.ok(!JSON.stringify(parts).includes('hidden'), JSON.stringify(parts));
      for (const side of [-1, 1])
        assert.ok(
          parts.some(([of, part]) => of === side && part.includes('********')),
          `${unit} ${side}`,
        );
    }
  });
});

/** The later text, made of the former one and of what `unifiedDiff` says. */
const patched = (before: string, diff: string): string => {
  const lines = before.split('\n').slice(0, -1);
  const made: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(2, -1)) {
    const [, from, count = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
    if (from !== undefined) {
      const start = count === '0' ? Number(from) : Number(from) - 1;
      made.push(...lines.slice(at, start));
      at = start;
    } else {
      if (line[0] !== '+') assert.equal(lines[at++], line.slice(1));
      if (line[0] !== '-') made.push(line.slice(1));
    }
  }
  return [...made, ...lines.slice(at)].map((line) => `${line}\n`).join('');
};

describe('Unified differences', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ' d', 'e f'), { maxLength: 40 });
  const textOf = (some: readonly string[]): string => some.map((line) => `${line}\n`).join('');

  it('make the later text from the former', () => {
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const diff = unifiedDiff(textOf(a), textOf(b));
        assert.equal(patched(textOf(a), diff), textOf(b));
        assert.equal(diff === '', textOf(a) === textOf(b));
      }),
    );
  });

  it('mask secrets, and show one that differs', () => {
    const diff = unifiedDiff('a\nenable secret 5 $1$one$x\n', 'a\nenable secret 5 $1$two$x\n');
    assert.equal(
      diff,
      '--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-enable secret 5 ********\n+enable secret 5 ********\n',
    );
  });
});

describe('Lines in which nothing is masked', () => {
  const pieces = [
    ...[
      'password',
      'my-secret',
      'KEY',
      'key-string',
      'community-map',
      'token',
      'auth',
      'priv',
      'md5',
      'sha256',
      'SHA-2',
    ],
    ...[
      '3des',
      'phash',
      'cipher',
      'enc',
      'v2c',
      '2c',
      'ssh-rsa',
      'ecdsa-sha2-nistp256',
      'snmp-server',
      'host',
      'traps',
    ],
    ...['a', '10', '192.0.2.1', '$1$salt$hash', '+/='.repeat(14), '"', '=', '-', 'description', 'encapsulation'],
  ];
  const line = fc.array(fc.constantFrom(...pieces, ' ', ' ', ' ', '\t', '\0'), { maxLength: 14 });

  it('are shown as they are, and all others masked', () => {
    const shown = (one: string): string => unifiedDiff('', one).split('\n')[3]?.slice(1) ?? '';
    fc.assert(
      fc.property(
        line.map((some) => some.join('')),
        (one) => {
          const words = wordsOf(unmarked(one));
          const isPlain = masking([])(words).every((word, i) => words[i] === '' || word === words[i]);
          assert.equal(shown(one) === one, isPlain);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('Stored differences', () => {
  it('make the later text from the former', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const stored = JSON.parse(JSON.stringify(storedDifference(before, after)));
        assert.equal(textAfter(before, stored), after);
      }),
    );
  });
});
