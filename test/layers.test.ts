import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

/** Who may import whom. Arrows point inwards: the domain knows nobody. */
const allowed: Record<string, readonly string[]> = {
  domain: ['domain'],
  concurrency: ['concurrency', 'domain'],
  store: ['store', 'concurrency', 'domain', 'startWorker.ts', 'soundJson.ts'],
  projections: ['projections', 'concurrency', 'domain', 'store', 'startWorker.ts', 'soundJson.ts'],
  commands: ['commands', 'concurrency', 'domain', 'projections', 'store'],
  events: ['events', 'concurrency', 'domain', 'projections', 'store'],
  southbound: ['southbound', 'domain', 'startWorker.ts', 'soundJson.ts'],
  runners: ['runners', 'commands', 'projections', 'concurrency', 'domain', 'store', 'southbound'],
  http: [
    'http',
    'commands',
    'projections',
    'domain',
    'store',
    'southbound',
    'concurrency',
    'passwords.ts',
    'secrets.ts',
    'version.ts',
  ],
};

/** Packages that a layer may use beside Node's own modules; in the domain not even those. */
const packages: Record<string, readonly string[]> = {
  domain: ['typebox', 'typebox/compile'],
  store: [
    '@photostructure/sqlite',
    'lru-cache',
    '@grpc/grpc-js',
    '@eventstore/db-client',
    '@eventstore/db-client/generated',
    'google-protobuf',
    'google-protobuf/google/protobuf',
    '@eventstore/db-client/dist/streams/appendToStream/unpackError.js',
    '@eventstore/db-client/dist/utils/grpcUUID.js',
  ],
  'store/grpc': ['re2js', 'selfsigned'],
  projections: ['lru-cache', 'redis'],
  concurrency: [],
  events: [],
  runners: [],
  commands: ['typebox', 'lru-cache', 'ajv', 'ajv/dist/2020.js', 'ajv-formats', 'ajv-formats/dist/formats.js', 're2js'],
};

/** Messages that a compiler has made come in a file each. */
const generated = /_pb\.js$/;

/** A folder within a layer may have packages of its own beside the layer's. */
const packagesOf = (layer: string, file: string): readonly string[] => [
  ...packages[layer]!,
  ...(packages[`${layer}/${file.split('/', 1)[0]!}`] ?? []),
];

/** The only files that know Koa: area files are data. */
const koaFiles = ['engine/address.ts', 'engine/app.ts', 'engine/body.ts', 'engine/router.ts'];

describe('layers', () => {
  for (const [layer, may] of Object.entries(allowed)) {
    for (const file of readdirSync(new URL(`../src/${layer}`, import.meta.url), {
      recursive: true,
      encoding: 'utf8',
    }).filter((file) => file.endsWith('.ts'))) {
      const text = readFileSync(new URL(`../src/${layer}/${file}`, import.meta.url), 'utf8');
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from!);
      it(`${layer}/${file} imports only what its layer may`, () => {
        for (const from of imports) {
          if (from.startsWith('.')) {
            const target = new URL(from, `file:///${layer}/${file}`).pathname.split('/')[1]!;
            assert.ok(may.includes(target), `${from} is beyond ${may.join(', ')}`);
          } else if (layer === 'domain' || (packages[layer] && !from.startsWith('node:'))) {
            assert.ok(
              packagesOf(layer, file).some(
                (name) => from === name || (generated.test(from) && from.startsWith(`${name}/`)),
              ),
              `${from} is not among the packages of ${layer}`,
            );
          }
          if (/koa/.test(from)) assert.ok(layer === 'http' && koaFiles.includes(file), 'only the pipeline knows Koa');
        }
        assert.ok(
          layer !== 'domain' || !/\bDate\.now\(|new Date\(\)|Math\.random|\basync\b|\bawait\b/.test(text),
          'the domain has no clock, randomness or waiting',
        );
        assert.ok(!/process\.exit/.test(text), 'only main.ts ends the process');
      });
    }
  }
});
