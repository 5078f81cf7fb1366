import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { type Area, areas } from '../../../src/domain/engine/core.ts';

/**
 * Who may import whom: `store`, `domain` and so on are folders of src, other names are files. The domain knows nobody.
 */
const allowed: Record<string, readonly string[]> = {
  domain: ['domain'],
  store: ['store', 'domain', 'process'],
  projections: ['projections', 'domain', 'store', 'process'],
  commands: ['commands', 'domain', 'projections', 'store'],
  events: ['events', 'commands', 'domain', 'projections', 'store'],
  process: ['process'], // what a program or a thread needs to start, to log and to end
  secrets: ['secrets', 'domain', 'events', 'store'],
  southbound: ['southbound', 'domain', 'process'],
  // One node below HTTP, which its parts take whole.
  'node.ts': ['commands', 'domain', 'events', 'projections', 'secrets', 'store'],
  runners: ['runners', 'node.ts', 'commands', 'projections', 'domain', 'store', 'southbound'],
  audit: ['audit', 'commands', 'domain', 'projections', 'store'],
  http: [
    'http',
    'node.ts',
    'audit',
    'commands',
    'projections',
    'domain',
    'store',
    'southbound',
    'secrets',
    'version.ts',
  ],
  client: ['client'],
  cli: [
    'cli',
    'audit',
    'client',
    'commands',
    'domain',
    'projections',
    'store',
    'config.ts',
    'events',
    'process',
    'node.ts',
    'secrets',
    'service',
    'version.ts',
  ],
  demo: ['demo', 'domain', 'process', 'service', 'config.ts'],
};

/** Layers that have a folder for their engine and one for each area. */
const layersOfAreas = ['domain', 'commands', 'projections', 'http'];

/** Other folders of these layers, and the areas that they know. Tables such as all.ts, beside the folders, know all. */
const rooms: Record<string, readonly Area[]> = {
  'projections/asOf': [],
  'projections/index': [],
  'projections/rebuild': [],
  'projections/redis': [],
  'projections/snapshots': [],
  // Documents that are kept whole name their authors.
  'commands/keptDocuments': ['authorization'],
  'http/keptDocuments': ['authorization'],
  'http/authentication': ['authorization', 'group-mappings'],
  // Its rows lead to those of areas.
  'http/compatibility': ['configuration-manager', 'mop', 'operations-manager', 'profiles', 'template-builder'],
  'http/console': [],
  'http/documentation': [],
  // Events without a resource: records of requests, published ones. Events of packages show automations.
  'http/events': ['authorization', 'automation-studio', 'operations-manager', 'prebuilts'],
};

/** Areas whose documents a layer without areas reads. */
const areasRead: Record<string, readonly Area[]> = {
  southbound: [
    'agent-session-manager',
    'authorization',
    'configuration-manager',
    'inventory-manager',
    'operations-manager',
    'template-builder',
  ],
  // An agent's template may use stored ones. Triggers start jobs. Jobs and tasks carry out operations of these.
  runners: [
    'agent-session-manager',
    'configuration-manager',
    'inventory-manager',
    'lifecycle-manager',
    'mop',
    'operations-manager',
    'template-builder',
  ],
};

/** The files of an area that other areas may import. All else of an area is its own affair. */
const offers: Partial<Record<Area, readonly string[]>> = {
  'agent-session-manager': [
    'commands/agentSessions.ts', // jobs run agents
    'domain/agentSessionSchemas.ts', // tasks have the inputs of operations
    'domain/agentSessions.ts',
  ],
  authorization: [
    'commands/admins.ts',
    'commands/authors.ts', // documents that are taken in name their authors
    'commands/members.ts', // projects name accounts and groups
    'commands/names.ts', // access lists name groups
    'domain/admins.ts',
    'domain/gbac.ts',
    'domain/groups.ts',
    'http/people.ts',
  ],
  'automation-studio': [
    'commands/projects.ts', // packages bring them
    'domain/projects.ts', // their members say who may read packages
    'projections/projects.ts', // components follow them
  ],
  'configuration-manager': [
    'commands/credentials.ts', // nodes name them
    'commands/groupMembers.ts', // command templates run on the devices of groups
    'commands/trees.ts',
    'domain/adapterSchemas.ts', // nodes are reached as devices of adapters are
    'domain/credentialReferences.ts',
    'projections/deviceGroups.ts',
  ],
  'inventory-manager': ['domain/inventories.ts', 'domain/nodeDevices.ts', 'projections/inventories.ts'], // nodes are devices
  'json-forms': [
    'commands/forms.ts',
    'domain/forms.ts',
    'projections/formDeletions.ts', // a trigger must not name a form that is about to go
    'projections/forms.ts', // triggers name them, packages bring them
  ],
  'lifecycle-manager': ['commands/actionExecutions.ts', 'domain/actionExecutions.ts'], // tasks run actions
  'operations-manager': [
    'commands/automationImports.ts',
    'commands/automations.ts',
    'commands/components.ts',
    'commands/jobs.ts',
    'commands/neverRunning.ts', // imports and migrations warn of schedules
    'commands/publishedEvents.ts',
    'commands/readiness.ts', // packages and projects are ready if their documents are
    'commands/triggerForms.ts',
    'commands/triggers.ts',
    'domain/automationImports.ts',
    'domain/automations.ts',
    'domain/formReferences.ts',
    'domain/jobSchemas.ts',
    'domain/jobs.ts',
    'domain/publishedEvents.ts',
    'domain/repetition.ts',
    'domain/triggers.ts',
    'projections/automations.ts', // packages and migrations make them, actions name one as their workflow
    'projections/jobs.ts', // who sees a job sees its session; runs of compliance plans are jobs
    'projections/triggers.ts', // they name forms and transformations, packages bring them
    'projections/workflows.ts', // they name transformations
  ],
  prebuilts: [
    'commands/prebuiltDrafts.ts', // a package's plan goes through its projects
    'commands/prebuiltPlans.ts', // projects unpack their documents, too
    'domain/parts.ts',
    'domain/prebuiltSchemas.ts',
    'domain/prebuiltSecrets.ts',
    'domain/prebuilts.ts',
  ],
  profiles: [
    'domain/profiles.ts',
    'projections/profiles.ts', // pages that ask for a login look as the active one says
  ],
  'template-builder': ['commands/transformations.ts', 'domain/transformations.ts'], // workflows and triggers name them
};

/** Packages, ours and of others, that a layer may use beside Node's own modules; in the domain not even those. */
const packages: Record<string, readonly string[]> = {
  client: ['@automation-platform/client'],
  domain: ['typebox', 'typebox/compile', '@automation-platform/configurations', '@automation-platform/json'],
  store: [
    '@automation-platform/client',
    '@automation-platform/concurrency',
    '@automation-platform/event-log',
    '@automation-platform/json',
    '@automation-platform/log-proof',
    '@photostructure/sqlite',
    'lru-cache',
    '@grpc/grpc-js',
    '@eventstore/db-client',
    '@eventstore/db-client/generated',
    'google-protobuf',
    'google-protobuf/google/protobuf',
  ],
  projections: [
    'lru-cache',
    'redis',
    '@automation-platform/concurrency',
    '@automation-platform/configurations',
    '@automation-platform/json',
  ],
  events: ['@automation-platform/concurrency', '@automation-platform/json'],
  runners: [
    '@automation-platform/concurrency',
    '@automation-platform/configurations',
    '@automation-platform/json',
    '@automation-platform/bounded-schemas',
    '@automation-platform/log-proof',
  ],
  cli: [
    'commander',
    '@automation-platform/client',
    '@automation-platform/concurrency',
    '@automation-platform/event-log',
    '@automation-platform/json',
    '@automation-platform/log-proof',
  ],
  commands: [
    'typebox',
    'lru-cache',
    'jsonata',
    '@automation-platform/bounded-schemas',
    '@automation-platform/client',
    '@automation-platform/concurrency',
    '@automation-platform/configurations',
    '@automation-platform/json',
    '@automation-platform/transformations',
  ],
};

/** Messages that a compiler has made come in a file each. */
const generated = /_pb\.js$/;

/** The only files that know Koa: rows are data. */
const koaFiles = ['incoming.ts', 'app.ts', 'appNeeds.ts', 'body.ts', 'router.ts'].map((file) => `http/engine/${file}`);

/**
 * The only files that ask the clock of the machine. All else that goes by the time asks the clock of the node, which is not
 * believed while it may be wrong; spans go by a clock that never jumps (docs/operations.md, Clocks).
 */
const wallClockFiles = [
  'service/serviceNode.ts', // the clock of the node follows it
  // The service gives these the clock of the node.
  'commands/authorization/requestRecorder.ts',
  // Commands of the operator, who looks at the clock. They show times, and begin the schedules of a log that was brought back.
  'cli/beginSchedules.ts',
  'cli/commands/export.ts',
  'cli/law/beginAnew.ts',
  // They show a time.
  'secrets/keyCheck.ts',
  'store/identity.ts',
  'store/sqlite/scrub.ts',
  // Certificates have times by that clock, and so do deadlines of gRPC.
  'store/eventstoredb/line.ts',
  'secrets/certificate.ts',
];

const source = fileURLToPath(new URL('../../../src/', import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const texts = new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')]));

const importsOf = (file: string): readonly string[] =>
  [...texts.get(file)!.matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g)].map(([, from, later]) => from ?? later!);

/** The files of src that a file imports. */
const ownImports = (file: string): readonly string[] =>
  importsOf(file)
    .filter((from) => from.startsWith('.'))
    .map((from) => join(dirname(file), from));

const layerOf = (file: string): string => file.split('/', 1)[0]!;

/** The folder of a layer that a file lies in; undefined for tables and for layers without areas. */
const roomOf = (file: string): string | undefined => {
  const [layer, room, ...rest] = file.split('/');
  return layersOfAreas.includes(layer!) && rest.length > 0 ? room : undefined;
};

const areaOf = (file: string): Area | undefined => areas.find((area) => area === roomOf(file));

const mayUsePackage = (file: string, from: string): boolean => {
  const [layer, folder] = file.split('/');
  const some = [...packages[layer!]!, ...(packages[`${layer}/${folder}`] ?? [])];
  return some.some((name) => from === name || (generated.test(from) && from.startsWith(`${name}/`)));
};

const isOffered = (file: string, area: Area): boolean =>
  offers[area]?.includes(file.replace(`/${area}/`, '/')) ?? false;

/** Why a file may not import one of an area; undefined if it may. */
const forbidden = (file: string, imported: string): string | undefined => {
  const area = areaOf(imported);
  if (area === undefined || areaOf(file) === area) return undefined;
  const room = roomOf(file);
  if (room === 'engine') return 'the engine knows no area';
  if (areaOf(file)) return isOffered(imported, area) ? undefined : `${area} does not offer it to other areas`;
  const known = room === undefined ? areasRead[layerOf(file)] : rooms[`${layerOf(file)}/${room}`];
  return known === undefined || known.includes(area) ? undefined : `this folder knows ${known.join(', ') || 'no area'}`;
};

/** Files that import one another in a circle, each list one circle. */
const circles = (): readonly string[][] => {
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file]);
    if (done.has(file) || path.includes(file)) return;
    for (const next of ownImports(file)) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
  return found;
};

describe('layers', () => {
  for (const file of files) {
    const text = texts.get(file)!;
    const layer = layerOf(file);
    it(`${file} imports only what it may`, () => {
      const may = allowed[layer];
      for (const imported of ownImports(file)) {
        if (may) assert.ok(may.includes(layerOf(imported)), `${imported} is beyond ${may.join(', ')}`);
        else assert.notEqual(layerOf(imported), 'demo', 'the demo uses the service, never the other way round');
        const why = forbidden(file, imported);
        assert.equal(why, undefined, `${imported}: ${why}`);
      }
      for (const from of importsOf(file).filter((from) => !from.startsWith('.'))) {
        const restricted = layer === 'domain' || (packages[layer] && !from.startsWith('node:'));
        assert.ok(!restricted || mayUsePackage(file, from), `${from} is not among the packages of ${layer}`);
        assert.ok(!/koa/.test(from) || koaFiles.includes(file), 'only the pipeline knows Koa');
      }
    });
    if (layer === 'domain')
      it(`${file} has no clock, randomness or waiting`, () =>
        assert.ok(!/\bDate\.now\(|new Date\(\)|Math\.random|\basync\b|\bawait\b/.test(text)));
    if (!['main.ts', 'process/program.ts', 'service/runService.ts'].includes(file) && !file.endsWith('/main.ts'))
      it(`${file} does not end the process`, () => assert.ok(!/process\.exit\(/.test(text)));
  }

  it('every folder of a layer is its engine, an area or a room that is known', () => {
    const folders = new Set(files.filter(roomOf).map((file) => `${layerOf(file)}/${roomOf(file)}`));
    for (const folder of folders) {
      const [, name] = folder.split('/');
      const known = name === 'engine' || folder in rooms || areas.some((area) => area === name);
      assert.ok(known, `${folder} is neither the engine nor an area`);
    }
  });

  it('areas offer only what another area imports', () => {
    for (const [area, offered] of Object.entries(offers)) {
      const used = files.filter((file) => areaOf(file) !== undefined && areaOf(file) !== area).flatMap(ownImports);
      for (const file of offered) {
        const whole = file.replace('/', `/${area}/`);
        assert.ok(used.includes(whole), `No other area imports ${whole}: take it off the list`);
      }
    }
  });

  it('only files that are known ask the clock of the machine', () => {
    const asking = files.filter(
      (file) => layerOf(file) !== 'demo' && /\bDate\.now\b|new Date\(\)/.test(texts.get(file)!),
    );
    assert.deepEqual(asking.sort(), wallClockFiles.toSorted());
  });

  it('the version of the package whose generated messages are imported is exact', () => {
    const { dependencies } = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8'));
    assert.match(dependencies['@eventstore/db-client'], /^\d/);
  });

  it('no files import one another in a circle', () =>
    assert.deepEqual(
      circles().map((circle) => circle.join(' -> ')),
      [],
    ));
});
