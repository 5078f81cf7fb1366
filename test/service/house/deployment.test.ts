import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig, settingsHelp } from '../../../src/config.ts';
import { esdbHosts } from '../../../src/store/url.ts';
import { auditKey } from '../../support/auditKey.ts';
import { temporaryFolder } from '../../support/process.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const text = read('compose.yaml');

type Service = {
  readonly image?: string;
  readonly build?: string;
  readonly user?: string;
  readonly environment?: Record<string, string | number>;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: { test: readonly string[] };
  readonly networks?: Record<string, { ipv4_address: string }>;
};

/** The file as the engine reads it, with a value for each variable that has no default. */
const compose = parse(
  text.replaceAll(
    /\$\{(\w+)(?::\?[^}]*|:-([^}]*))?\}/g,
    (_, name: string, preset?: string) => preset ?? `value-of-${name}`,
  ),
  { merge: true },
) as {
  readonly services: Record<string, Service>;
  readonly volumes: Record<string, unknown>;
  readonly networks: {
    readonly default: { readonly ipam: { readonly config: readonly [{ readonly subnet: string }] } };
  };
};
const { services } = compose;
const service = (name: string): Service => services[name] ?? assert.fail(`There is no service ${name}`);
const nodes = Object.keys(services).filter((name) => services[name]!.build);
const eventStores = Object.keys(services).filter((name) => services[name]!.image?.startsWith('eventstore/eventstore:'));

/** Source, place in the container and mode of each volume of a service. */
const mounts = (name: string) =>
  (service(name).volumes ?? []).map((volume) => volume.split(':') as [source: string, place: string, mode?: string]);
const mounted = (name: string, file: string) => mounts(name).find(([, place]) => file.startsWith(`${place}/`));

describe('compose.yaml', () => {
  it('has three nodes of EventStoreDB, Redis, two nodes of the API and a balancer', () => {
    assert.deepEqual(Object.keys(services).sort(), [
      'balancer',
      'certificates',
      'eventstore1',
      'eventstore2',
      'eventstore3',
      'node1',
      'node2',
      'redis',
    ]);
    assert.deepEqual(
      [nodes, eventStores],
      [
        ['node1', 'node2'],
        ['eventstore1', 'eventstore2', 'eventstore3'],
      ],
    );
  });

  for (const name of nodes) {
    it(`gives ${name} settings that the service takes, of services that are there`, () => {
      const known = new Set([...settingsHelp().matchAll(/^ {2}(\w+)/gm)].map(([, setting]) => setting));
      const environment = { ...(service(name).environment as Record<string, string>) };
      for (const setting of Object.keys(environment)) assert.ok(known.has(setting), `${setting} is no setting`);
      const folder = temporaryFolder();
      const ca = /tlsCAFile=([^&]+)/.exec(environment.EVENTSTORE_URL!)![1]!;
      assert.ok(mounted(name, ca), `${ca} is in no volume`);
      writeFileSync(join(folder, 'ca.crt'), '');
      try {
        const { EVENTSTORE_URL, READSTORE_URL, TRUST_PROXY } = readConfig({
          ...environment,
          AUDIT_KEY: auditKey,
          EVENTSTORE_URL: environment.EVENTSTORE_URL!.replace(ca, join(folder, 'ca.crt')),
        });
        assert.ok('url' in EVENTSTORE_URL);
        assert.deepEqual(esdbHosts(EVENTSTORE_URL.url), eventStores);
        assert.ok(service(new URL(READSTORE_URL!).hostname).image?.startsWith('redis:'));
        assert.ok(TRUST_PROXY.check(service('balancer').networks!.default!.ipv4_address));
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }

  it('gives every node the same keys, and a folder of its own', () => {
    for (const key of ['SECRET_KEY', 'AUDIT_KEY'])
      assert.equal(new Set(nodes.map((name) => service(name).environment![key])).size, 1);
    assert.equal(
      new Set(nodes.map((name) => mounts(name).find(([, place]) => place === '/data')![0])).size,
      nodes.length,
    );
  });

  for (const name of eventStores) {
    it(`makes a certificate for ${name}, which gossips with the others under its own name`, () => {
      const environment = service(name).environment as Record<string, string>;
      const made = service('certificates').command!.join();
      assert.match(made, new RegExp(`for node in [^;]*\\b${name}\\b`));
      assert.match(made, /-dns-names \$\$node,localhost/);
      for (const setting of ['EVENTSTORE_CERTIFICATE_FILE', 'EVENTSTORE_CERTIFICATE_PRIVATE_KEY_FILE']) {
        assert.match(environment[setting]!, new RegExp(`/${name}/node\\.(crt|key)$`));
        assert.deepEqual(mounted(name, environment[setting]!), mounts(name)[0]);
      }
      assert.deepEqual(
        environment.EVENTSTORE_GOSSIP_SEED!.split(','),
        eventStores.filter((other) => other !== name).map((other) => `${other}:2113`),
      );
      for (const setting of ['EVENTSTORE_NODE_HOST_ADVERTISE_AS', 'EVENTSTORE_REPLICATION_HOST_ADVERTISE_AS'])
        assert.equal(environment[setting], name);
      assert.equal(environment.EVENTSTORE_CLUSTER_SIZE, eventStores.length);
      assert.equal(environment.EVENTSTORE_INSECURE, undefined);
    });
  }

  it('keeps the private keys from the nodes of the API', () => {
    for (const name of nodes) assert.ok(mounts(name).every(([source]) => source !== 'certificates'));
  });

  it('has Redis keep what it has on disk and never throw anything away', () => {
    const command = service('redis').command!.join(' ');
    assert.match(command, /--appendonly yes/);
    assert.match(command, /--maxmemory-policy noeviction/);
    assert.match(command, /--requirepass \S/);
  });

  it('balances over every node that is ready', () => {
    const caddyfile = read('deploy/Caddyfile');
    assert.match(caddyfile, new RegExp(`reverse_proxy ${nodes.map((name) => `${name}:3000`).join(' ')} \\{`));
    assert.match(caddyfile, /health_uri \/health\/ready/);
    assert.ok(
      mounts('balancer').some(([source, place]) => source === './deploy/Caddyfile' && place === '/etc/caddy/Caddyfile'),
    );
    for (const name of nodes) assert.ok(service('balancer').depends_on![name]);
  });

  it('publishes the balancer alone, on loopback unless told otherwise', () => {
    assert.deepEqual(
      Object.keys(services).filter((name) => services[name]!.ports),
      ['balancer'],
    );
    assert.deepEqual(service('balancer').ports, ['127.0.0.1:443:443']);
  });

  it('waits only for services that say when they are ready', () => {
    for (const [name, { depends_on: needs = {} }] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(needs)) {
        const { healthcheck, build } = service(other);
        const said =
          condition === 'service_healthy'
            ? healthcheck !== undefined || (build !== undefined && /^HEALTHCHECK /m.test(read('Dockerfile')))
            : other === 'certificates';
        assert.ok(said, `${name} waits for ${other}`);
      }
    }
  });

  it('declares the volumes that are used, and names files that are there', () => {
    const used = Object.keys(services).flatMap((name) => mounts(name).map(([source]) => source));
    assert.deepEqual(
      [...new Set(used.filter((source) => !source.startsWith('.')))].sort(),
      Object.keys(compose.volumes).sort(),
    );
    for (const source of used.filter((source) => source.startsWith('.')))
      assert.ok(existsSync(new URL(source, root)), source);
  });

  it('takes every image in a version, and every password from outside', () => {
    for (const [name, { image, build }] of Object.entries(services))
      assert.ok(build === '.' || /^[\w./-]+:\d[\w.-]*$/.test(image ?? ''), name);
    for (const [, name] of text.matchAll(/^\s+\w*(?:PASSWORD|SECRET_KEY|AUDIT_KEY|AUTH): (?!\$\{)(.*)$/gm))
      assert.fail(name);
    for (const variable of new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)))
      assert.match(read('docs/operations.md'), new RegExp(`\`${variable}\``), variable);
  });
});

describe('Dockerfile', () => {
  const file = read('Dockerfile');
  const [build, final] = file.split(/^(?=FROM )/m) as [string, string];
  const command = (name: string): readonly string[] =>
    JSON.parse(new RegExp(`^${name} .*?(\\[.*\\])$`, 'm').exec(final)![1]!) as string[];
  const ignored = read('.dockerignore').trim().split('\n');

  it('builds from files that are there and that the engine is given', () => {
    assert.equal(ignored[0], '*');
    const copied = [...build.matchAll(/^COPY (.+)$/gm)].flatMap(([, words]) => words!.split(' ').slice(0, -1));
    for (const source of copied) {
      assert.ok(existsSync(new URL(source, root)), source);
      assert.ok(ignored.includes(`!${source}`), `${source} is ignored`);
    }
    assert.deepEqual(
      ignored
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1))
        .sort(),
      [...copied].sort(),
      'nothing else is given',
    );
    assert.match(build, /npm ci\n[^]*npm run build && npm prune --omit=dev/);
  });

  it('takes over what the build makes, and runs what npm run build makes', () => {
    const {
      compilerOptions: { outDir, rootDir },
    } = JSON.parse(read('tsconfig.build.json')) as { compilerOptions: { outDir: string; rootDir: string } };
    assert.deepEqual(
      [...final.matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map(([, source]) => source),
      ['package.json', 'node_modules', 'packages', outDir],
    );
    const [program, main] = command('CMD');
    assert.equal(program, 'node');
    assert.equal(main!.split('/')[0], outDir);
    assert.ok(existsSync(new URL(main!.replace(outDir, rootDir).replace(/\.js$/, '.ts'), root)));
  });

  it('runs on a Node that the project supports, as nobody special, with its data in a volume', () => {
    const [major] = /(\d+)\./
      .exec((JSON.parse(read('package.json')) as { engines: { node: string } }).engines.node)!
      .slice(1);
    for (const stage of [build, final]) assert.ok(Number(/^FROM node:(\d+)-/.exec(stage)![1]) >= Number(major));
    assert.match(final, /^USER node$/m);
    assert.match(final, /install -d -o node .* \/data$/m);
    assert.match(final, /^VOLUME \/data$/m);
    const [, environment] = /^ENV (.*)$/m.exec(final)!;
    const settings = Object.fromEntries(environment!.split(' ').map((pair) => pair.split('=') as [string, string]));
    assert.deepEqual((({ HOST, PORT, DATA_DIR }) => [HOST, PORT, DATA_DIR])(readConfig(settings)), [
      '0.0.0.0',
      3000,
      '/data',
    ]);
  });

  describe('asks the service whether it is ready', () => {
    let server: Server;
    let status = 200;
    const asked: string[] = [];
    before((done) => {
      server = createServer((request, response) => {
        asked.push(request.url!);
        response.writeHead(status).end();
      }).listen(0, '127.0.0.1', done);
    });
    after((done) => {
      server.close(done);
    });
    const exit = (port: number): Promise<number | null> => {
      const [program, ...args] = command('HEALTHCHECK');
      assert.equal(program, 'node');
      const child = spawn(process.execPath, args, { env: { PORT: String(port) } });
      return new Promise((resolve) => {
        child.once('exit', resolve);
      });
    };
    it('and believes a 200 alone', async () => {
      const { port } = server.address() as AddressInfo;
      assert.equal(await exit(port), 0);
      status = 503;
      assert.equal(await exit(port), 1);
      assert.deepEqual(asked, ['/health/ready', '/health/ready']);
      assert.equal(await exit(1), 1);
    });
  });
});
