import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ComplianceReportEvent, complianceReport } from '../src/domain/configuration-manager/complianceReports.ts';
import { compared } from '../src/southbound/engines/comparison.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { collecting, memoryOf } from './collecting.ts';
import { type Findings, inTurn, milliseconds, progress, scale, seconds } from './compare.ts';
import { hexId, type Kind, kinds, mappings } from './kinds.ts';
import { bytesOf, writeLog } from './logs.ts';
import { p99, readsDuring } from './moving.ts';
import { type Service, startService, temporary } from './processes.ts';
import { ask } from './requests.ts';
import { appendAll, appendsOf } from './sampleAppends.ts';
import { ready } from './service.ts';

const manager = '/configuration_manager';

/** A configuration of 5,000 lines in sections. */
const configurationOf = (device: number): string => {
  const lines = [`hostname core-${device}`, 'ntp server 192.0.2.10', 'service tcp-keepalives-in'];
  for (let port = 0; lines.length < 5000; port++)
    lines.push(
      `interface Ethernet${port >> 5}/${port & 31}`,
      ` description Link ${port} of core-${device}`,
      ` ip address 10.${device & 255}.${port & 255}.1 255.255.255.0`,
      ' mtu 9216',
      ' no shutdown',
      `ip route 10.${port & 255}.0.0 255.255.0.0 192.0.2.${port & 255}`,
    );
  return lines.slice(0, 5000).join('\n');
};

/** 300 golden lines: 50 with expressions, 20 sections. */
const goldenText = (): string => {
  const lines: string[] = ['hostname {/core-\\d+/}', 'ntp server {/[0-9.]+/}', 'service tcp-keepalives-in'];
  for (let section = 0; section < 20; section++) {
    lines.push(`interface Ethernet${section >> 5}/${section & 31}`, ' mtu 9216', ' {d/}shutdown');
    if (section < 15) lines.push(' description {/Link \\d+ .*/}', ` ip address 10.{/\\d+/}.${section}.1 {/255\\..*/}`);
  }
  for (let n = 0; n < 9; n++)
    lines.push(`{d/}ip http server port{/-?${n}/}`, `{d/}snmp-server host {/192[.]0[.]2[.]${n}/}`);
  for (let port = 0; lines.length < 300; port++)
    lines.push(`ip route 10.${port & 255}.0.0 255.255.0.0 192.0.2.${port & 255}`);
  return lines.join('\n');
};

const processorTime = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const perRound = 200;

/** (compliance.comparing) The processor time of comparisons. */
export const comparing = async (): Promise<Findings> => {
  const golden = { texts: [goldenText()], variables: {}, deviceType: 'cisco-ios', secrets: [] };
  const configurations = Array.from({ length: perRound }, (_, device) => configurationOf(device));
  const sinks = new Set<string>();
  const [first = ''] = configurations;
  const evaluated = compared([{ ...golden, configuration: first }]);
  const [outcome] = 'json' in evaluated ? JSON.parse(evaluated.json) : [evaluated];
  if (!(outcome.totals?.passes > 200)) throw new Error(`It was not compared: ${JSON.stringify(outcome).slice(0, 500)}`);
  const found = await inTurn('compliance.comparing', {
    ours: async () =>
      processorTime(() => {
        for (const configuration of configurations) compared([{ ...golden, configuration }]);
      }),
    theirs: async () =>
      processorTime(() => {
        for (const configuration of configurations)
          for (const line of configuration.split('\n')) {
            const words = line.split(' ');
            sinks.add(hash('sha256', words.length > 0 ? line : '', 'hex').slice(0, 2));
          }
      }),
  });
  return {
    comparisons: [
      {
        what: `(compliance.comparing) ${perRound} configurations of 5,000 lines against 300 golden lines: processor time`,
        comparedWith: 'their lines split into words and hashed (SHA-256)',
        ...found,
        shown: milliseconds,
        goal: { most: 1.5 },
      },
    ],
  };
};

const devices = 1000;
const throttle = 50;
const answerMs = 50;
const adapters = 4;

/** A controller that takes its time. */
const controller = async () => {
  const server = createServer((request, response) => {
    const config = `hostname ${request.url?.split('/')[2]}\nntp server 192.0.2.1\nip ssh version 2\n`;
    setTimeout(() => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ config }));
    }, answerMs);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Works on all items, `count` at the same time. */
const atOnce = async (
  count: number,
  items: readonly string[],
  work: (item: string) => Promise<void>,
): Promise<void> => {
  const left = items.values();
  const one = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: count }, one));
};

const json = async (service: Service, method: string, path: string, body?: object): Promise<any> =>
  // answers are any JSON
  JSON.parse((await ask(service.url, method, path, body ? { body } : {})).body.toString());

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** (compliance.running) A run of 1,000 devices, and the requests meanwhile. */
export const runningPlans = async (): Promise<Findings> => {
  const campus = await controller();
  const service = await startService(await temporary(), { OUTBOUND_ALLOW: '127.0.0.1', ...collecting });
  await ready(service.url);
  const names = Array.from({ length: devices }, (_, n) => `sw-${n}`);
  for (let adapter = 0; adapter < adapters; adapter++)
    await json(service, 'POST', `${manager}/adapters`, {
      name: `campus-${adapter}`,
      type: 'http',
      properties: { baseUrl: campus.baseUrl },
      devices: names.filter((_, n) => n % adapters === adapter).map((name) => ({ name, ostype: 'cisco-ios' })),
    });
  const { id: treeId, root } = await json(service, 'POST', `${manager}/configs`, {
    name: 'Campus',
    deviceType: 'cisco-ios',
  });
  const template = 'hostname {{ device.name }}\n<e/>ntp server 192.0.2.1\nip ssh version 2\n';
  await json(service, 'PUT', `${manager}/node/config`, {
    ...{ treeId, treeVersion: 'initial', nodePath: 'base', updateVariables: false },
    data: { template, variables: {} },
  });
  const nodes = [{ treeId, version: 'initial', nodeId: root.attributes.configId, devices: names }];
  await json(service, 'POST', `${manager}/compliance_plans`, { name: 'Campus', throttle, nodes });
  let batch = '';
  const run = () =>
    timed(async () => {
      const { instanceId, batchId } = await json(service, 'POST', `${manager}/compliance_plans/run`, {
        planId: 'Campus',
      });
      batch = batchId;
      while ((await json(service, 'GET', `/operations-manager/jobs/${instanceId}`)).data.status === 'running')
        await pause(20);
    });
  const store = await openSqliteStore({ file: join(await temporary(), 'events.db') });
  const appends = appendsOf(devices * (scale.rounds + 1));
  let round = 0;
  const bare = () =>
    timed(async () => {
      await atOnce(throttle, names, async (name) => {
        await (await fetch(`${campus.baseUrl}/devices/${name}/configuration`)).text();
      });
      await appendAll(store, appends.slice(devices * round, devices * ++round), throttle);
    });
  const found = await inTurn('compliance.running', { ours: run, theirs: bare });
  const rest = await memoryOf(service);
  let most = rest;
  const during: number[] = [];
  const alone: number[] = [];
  for (let round = 1; round <= scale.rounds; round++) {
    progress(`compliance.running: others, round ${round} of ${scale.rounds}`);
    alone.push(await readsDuring(service.url, pause(scale.milliseconds)));
    during.push(await readsDuring(service.url, run()));
    most = Math.max(most, await memoryOf(service));
  }
  const lists = [await timed(() => ask(service.url, 'GET', `${manager}/compliance_reports/batch/${batch}`))];
  await service.stop();
  await store.close();
  campus.close();
  const bytes = bytesOf(service.folder, 'complianceReported') / (devices * (2 * scale.rounds + 1));
  const one = (ours: number, theirs: number) => ({ ours: [ours], theirs: [theirs] });
  return {
    comparisons: [
      {
        what: `(compliance.running) a plan of ${devices} devices of ${adapters} adapters that answer in ${answerMs} ms, throttle ${throttle}`,
        comparedWith: 'as many bare GETs and durable appends',
        ...found,
        shown: milliseconds,
        goal: { most: 1.3 },
      },
      {
        what: '(compliance.running) p99 of a list of 25 while plans run',
        comparedWith: 'without',
        ours: during,
        theirs: alone,
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: '(compliance.running) bytes in the log per clean report',
        comparedWith: 'the goal',
        ...one(bytes, 2048),
        shown: (figure) => `${Math.round(figure)} B`,
        goal: { most: 1 },
      },
      {
        what: `(compliance.running) the list of a batch of ${devices}`,
        comparedWith: 'the goal',
        ...one(p99(lists) / 1000, 0.5),
        shown: seconds,
        goal: { most: 1 },
      },
      {
        what: '(compliance.running) memory of the service after runs',
        comparedWith: 'after the first ones, and 128 MiB',
        ...one(most, rest + 128),
        shown: (figure) => `${Math.round(figure)} MiB`,
        goal: { most: 1 },
      },
    ],
  };
};

/** Reports of 1,000 devices on one node; all but the newest of each device are followed by the next. */
const reportsOf = (count: number): Kind => ({
  aggregate: complianceReport,
  share: count,
  id: hexId,
  created: (n): ComplianceReportEvent => ({
    topic: 'complianceReported',
    data: {
      ...{ id: hexId(n), batchId: hexId(Math.floor(n / devices)), planId: null, treeId: hexId(0), version: 'initial' },
      ...{ nodePath: 'base', nodeId: hexId(0), specId: hexId(0), inheritedSpecIds: [] },
      ...{ deviceName: `sw-${n % devices}`, deviceType: 'cisco-ios', status: 'complete' },
      timestamp: new Date(1_767_225_600_000 + n * 1000).toISOString(),
      totals: { errors: 0, warnings: n % 2, infos: 0, passes: 40 },
      ...{ score: 97.5, grade: 'pass', issues: [], configuration: { digest: 'd'.repeat(43), lines: 400 } },
    },
  }),
  changed: (n): ComplianceReportEvent => {
    if (n + devices < count) return { topic: 'complianceReportFollowed', data: { by: hexId(n + devices) } };
    const places = {
      device: `sw-${n % devices}`,
      treeId: hexId(0),
      version: 'initial',
      nodeId: hexId(0),
      nodePath: 'base',
    };
    return {
      topic: 'deviceComplianceChanged',
      data: { ...places, plan: null, report: hexId(n), from: 'fail', to: 'pass' },
    };
  },
});

const many = 100_000;
const questions = 20;

/** (compliance.reports) The number of reports as a cost of sums, and of starts. */
export const manyReports = async (): Promise<Findings> => {
  const tree = kinds.find(({ aggregate }) => aggregate.category === 'tree');
  if (!tree) throw new Error('There is no kind of trees');
  const folderOf = async (contents: readonly Kind[], documents: number): Promise<string> => {
    const folder = join(await temporary(), 'data');
    mkdirSync(folder);
    writeLog(join(folder, 'events.db'), { kinds: contents, documents, eventsEach: 2 });
    return folder;
  };
  const withReports = async (count: number) => folderOf([reportsOf(count), { ...tree, share: 1 }], count + 1);
  const start = async (folder: string) => {
    // What was followed long ago stays: it is not what is measured.
    const service = await startService(folder, { RETENTION_DAYS: '0' });
    await ready(service.url);
    return service;
  };
  const large = await withReports(many);
  const others = await folderOf(kinds, many);
  const small = await folderOf([{ ...mappings, share: 1 }], many);
  const starting = (folder: string) => () => timed(async () => (await start(folder)).stop());
  const starts = await inTurn('compliance.reports, starts', {
    ours: starting(large),
    theirs: starting(others),
    least: starting(small),
  });
  const [few, all] = [await start(await withReports(devices)), await start(large)];
  const sums =
    ({ url }: Service) =>
    () =>
      timed(async () => {
        for (let n = 0; n < questions; n++) await ask(url, 'GET', `${manager}/compliance_reports/tree/${hexId(0)}`);
      });
  const summaries = await inTurn('compliance.reports, sums', { ours: sums(all), theirs: sums(few) });
  await few.stop();
  await all.stop();
  return {
    comparisons: [
      {
        what: `(compliance.reports) start with ${many} reports in the log`,
        comparedWith: 'with as many events of all kinds',
        ...starts,
        shown: milliseconds,
        goal: { most: 1.2 },
      },
      {
        what: `(compliance.reports) start with ${many} reports in the log`,
        comparedWith: 'with as many events of group mappings, the smallest documents',
        ours: starts.ours,
        theirs: starts.least,
        shown: milliseconds,
      },
      {
        what: `(compliance.reports) ${questions} summaries of a tree with ${devices} devices and ${many} reports`,
        comparedWith: `with ${devices} reports`,
        ...summaries,
        shown: milliseconds,
        goal: { most: 2 },
      },
    ],
  };
};
