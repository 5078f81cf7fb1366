import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { settingsHelp } from '../../../src/config.ts';
import { aggregates } from '../../../src/domain/all.ts';
import { ownOperations } from '../../../src/domain/operations-manager/workflows/ownOperations.ts';
import { isOwnEvent } from '../../../src/events/ownStreams.ts';
import { areas } from '../../../src/http/areas.ts';
import { notBuilt } from '../../../src/http/compatibility/notBuilt.ts';
import { statusOf } from '../../../src/http/engine/errors.ts';
import { metrics } from '../../../src/http/engine/metrics.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import { projections } from '../../../src/projections/all.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const packages = readdirSync(new URL('packages/', root)).map((name) => `packages/${name}`);

/** Every Markdown file for readers. */
const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].concat(
  packages.map((folder) => `${folder}/README.md`),
  readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
);

/** The anchors of a document, as web sites for repositories make them from headings. */
const anchorsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The targets of a document's links. */
const linksIn = (text: string): readonly string[] => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);

/** The cells of the first column of the table below a heading, or of a page's only table. */
const firstColumn = (text: string, heading = ''): readonly string[] =>
  text
    .slice(text.indexOf(heading))
    .split('\n\n')
    .find((part) => part.startsWith('|'))!
    .split('\n')
    .slice(2)
    .flatMap((line) => line.split('|')[1]?.split(',') ?? [])
    .map((cell) => cell.replaceAll('`', '').trim());

/** Fails unless a link of a document leads to a file, and to a section of it where it names one. */
const checkLink = (file: string, target: string): void => {
  if (/^(https?|mailto):/.test(target)) return;
  const [path = '', anchor] = target.split('#');
  const linked = path === '' ? new URL(file, root) : new URL(path, new URL(file, root));
  assert.ok(existsSync(linked), `${target} leads nowhere`);
  if (anchor) assert.ok(anchorsIn(readFileSync(linked, 'utf8')).includes(anchor), `${target} names no section`);
};

describe('the documentation', () => {
  it('has every code with its status, and no other', () => {
    const rows = [...read('docs/status-codes.md').matchAll(/^\| (\w+) \| (\d+) \| (.+) \|$/gm)];
    assert.deepEqual(
      rows.map(([, code, status]) => [code, Number(status)]),
      Object.entries(statusOf),
    );
  });

  it('has the documented operations with the routes, read models and events that there are', () => {
    const operations = read('docs/documented-operations.md')
      .split('\n')
      .filter((line) => /^\| \d/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1)
          .map((cell) => cell.trim()),
      );
    assert.deepEqual(
      operations.map(([number]) => Number(number)),
      Array.from({ length: 22 }, (_, i) => i + 1),
    );
    const named = (text: string): readonly string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    const collections = new Set(projections.flatMap(({ collection, children }) => [collection, children?.collection]));
    const topics = new Set(aggregates.flatMap(({ evolve }) => Object.keys(evolve)));
    for (const [, name, route, models, events] of operations) {
      assert.ok(
        areas.some((area) =>
          area.routes.some(
            (row) => `\`${row.name}\`` === name && `\`${row.method.toUpperCase()} ${fullPathOf(area, row)}\`` === route,
          ),
        ),
        `No row ${name} at ${route}`,
      );
      for (const model of named(models!)) assert.ok(collections.has(model), `No read model ${model}`);
      for (const topic of named(events!)) assert.ok(topics.has(topic), `No event ${topic}`);
    }
  });

  it('has every operation of the service that tasks stand for, with its inputs, outputs and kind', () => {
    const told = [...read('docs/workflows.md').matchAll(/^\| (`\w+\.\w+`) \|.* (reads|writes|acts) \|$/gm)].map(
      ([row]) => row,
    );
    const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
    const rows = Object.entries(ownOperations).map(([id, { inputs, outputs, kind }]) =>
      ['', `\`${id}\``, quoted(Object.keys(inputs.properties)), quoted(outputs), kind, '']
        .map((cell) => (cell === '' ? ' ' : ` ${cell} `))
        .join('|')
        .trim(),
    );
    assert.deepEqual(told, rows);
  });

  it('says of every metric what to watch for, and of no other', async () => {
    const measured = ['src/service/monitor.ts', 'src/service/runners.ts', 'src/service/start.ts'].flatMap((file) =>
      [...read(file).matchAll(/^ +(\w+): \{\s+help:/gm)].map(([, name]) => name!),
    );
    const { text } = await metrics({ areas, isOwnEvent }).text();
    const there = [...measured, ...[...text.matchAll(/^# TYPE automation_platform_(\w+)/gm)].map(([, name]) => name!)];
    const table = /^\| metric \|[^]*?\n\n/m.exec(read('docs/operations.md'))![0];
    const told = table
      .split('\n')
      .slice(2)
      .flatMap((line) => [...(line.split('|')[1]?.matchAll(/`(\w+)`/g) ?? [])].map(([, name]) => name!));
    assert.ok(there.length > 8);
    assert.deepEqual(told.sort(), there.sort());
  });

  it('has every setting, and no other', () => {
    const named = firstColumn(read('docs/operations.md'), '## Settings');
    const there = [...settingsHelp().matchAll(/^ +([A-Z_]+) /gm)].map(([, name]) => name!);
    assert.deepEqual([...named].sort(), there.sort());
  });

  it('says of every library why it is there, and of no other', () => {
    const named = ['.', ...packages].flatMap((folder) => {
      const { dependencies, devDependencies } = JSON.parse(read(`${folder}/package.json`));
      return Object.keys({ ...dependencies, ...devDependencies });
    });
    const there = new Set(named.filter((name) => !/^@(types|automation-platform)\//.test(name)));
    assert.deepEqual([...firstColumn(read('docs/libraries.md'))].sort(), [...there].sort());
  });

  it('has every address of other programs that is not built, in the words of the answer', () => {
    const section = read('docs/clients.md').split('## Not built')[1]!;
    assert.deepEqual(
      [...section.matchAll(/^\| `(.+)` \| (.+) \|$/gm)].map(([, address, message]) => [address, message]),
      Object.entries(notBuilt),
    );
  });

  it('begins with a README of 70 lines and 700 words at most, five links and a picture', () => {
    const readme = read('README.md');
    const isShort = readme.trimEnd().split('\n').length <= 70 && readme.trim().split(/\s+/).length <= 700;
    assert.ok(isShort, 'What does not fit belongs into a page of docs');
    const links = [...new Set(linksIn(readme))];
    assert.equal(links.filter((link) => !link.endsWith('.png')).length, 5);
    assert.equal(links.length, 6);
  });

  it('leads from the README to every page but single decisions', () => {
    const found = new Set<string>(['README.md']);
    for (const file of found)
      for (const target of linksIn(file.endsWith('.md') ? read(file) : '')) {
        const { pathname } = new URL(target, new URL(file, 'file:///'));
        if (!/^\w+:/.test(target)) found.add(pathname.slice(1));
      }
    const lost = documents.filter((file) => !found.has(file) && !/^(docs\/decisions\/|CHANGELOG)/.test(file));
    assert.deepEqual(lost, []);
  });

  for (const file of documents) {
    it(`${file} names files, scripts and sections that are there`, () => {
      const text = read(file);
      for (const [, path = ''] of text.matchAll(/`((?:src|test|docs|bench|packages)\/[\w./-]+)`/g))
        assert.ok(existsSync(new URL(path, root)), `There is no ${path}`);
      const { scripts } = JSON.parse(read('package.json'));
      for (const [, script = ''] of text.matchAll(/`npm run ([\w:]+)`/g))
        assert.ok(script in scripts, `There is no npm run ${script}`);
      for (const target of linksIn(text)) checkLink(file, target);
    });
  }
});
