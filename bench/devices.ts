import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { brotliCompressSync } from 'node:zlib';
import { unifiedDiff } from '@automation-platform/configurations';
import { type Comparison, type Findings, inTurn, milliseconds, seconds } from './compare.ts';
import { bytesOf } from './logs.ts';
import { cpuSeconds, type Service, startProgram, startService, temporary } from './processes.ts';
import type { Calls } from './programs/sshCalls.ts';
import type { Lab, LabPlaces } from './programs/sshLab.ts';
import { ask } from './requests.ts';
import { ready } from './service.ts';

const manager = '/configuration_manager';

/** A configuration with so many lines. `versionOf`: the version of the fifth of them that a change can be made to. */
const configurationOf = (length: number, versionOf: (port: number) => number = () => 0): string => {
  const lines = ['hostname core', 'ntp server 192.0.2.10'];
  for (let port = 0; lines.length < length; port++)
    lines.push(
      `interface Ethernet${port >> 5}/${port & 31}`,
      ` description Circuit ${hash('sha256', `${port} ${versionOf(port)}`, 'hex').slice(0, 12)}`,
      ` ip address 10.${port >> 8}.${port & 255}.1 255.255.255.0`,
      ' mtu 9216',
      ' no shutdown',
    );
  return `${lines.slice(0, length).join('\n')}\n`;
};

const post = async (service: Service, path: string, body: object): Promise<any> =>
  // answers are any JSON
  JSON.parse((await ask(service.url, 'POST', manager + path, { body })).body.toString());

const startWithDevices = async (): Promise<Service> => {
  const service = await startService(await temporary(), { OUTBOUND_ALLOW: '127.0.0.1' });
  await ready(service.url);
  return service;
};

const devices = 200;
const throttle = 50;
const adapters = 4;
const lengthOfDevice = 500;
/** So long a session waits for its next call, in seconds. By hand each change has a session of its own. */
const keepSession = 2;

/** Seconds of processor time of a process and of those that it has started. */
const cpuOfAll = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + cpuOfAll(Number(child)), cpuSeconds(pid));
};

/** (devices.changes) A change of 200 devices. */
export const changingDevices = async (): Promise<Findings> => {
  const [lab, byHand] = [startProgram('sshLab'), startProgram('sshCalls')];
  const initial = configurationOf(lengthOfDevice);
  const { ports, bytesOfKey } = await lab.ask<LabPlaces>({ count: devices, initial } satisfies Lab);
  const hostKey = `SHA256:${hash('sha256', Buffer.from(bytesOfKey, 'base64'), 'base64').replace(/=+$/, '')}`;
  const service = await startWithDevices();
  const names = ports.map((_, n) => `core-${n}`);
  for (let adapter = 0; adapter < adapters; adapter++)
    await post(service, '/adapters', {
      name: `lab-${adapter}`,
      type: 'ssh',
      properties: { username: 'ops', password: 'a long enough password', hostKey, keepSession },
      devices: ports.flatMap((port, n) =>
        n % adapters === adapter ? [{ name: names[n], host: '127.0.0.1', port, ostype: 'cisco-ios' }] : [],
      ),
    });
  let round = 0;
  const linesOf = (): readonly string[] => {
    round++;
    return [
      `ntp server 198.51.100.${round % 250}`,
      `snmp-server location Round ${round}`,
      'interface Loopback7',
      ` description Router id ${round}`,
    ];
  };
  /** Wall and processor time of a work, both in seconds. */
  const times: Record<'ours' | 'theirs', { wall: number; cpu: number }[]> = { ours: [], theirs: [] };
  const measured = (whose: keyof typeof times, pid: number, work: (lines: readonly string[]) => Promise<void>) => {
    return async (): Promise<number> => {
      const lines = linesOf();
      await pause(1000 * keepSession + 500);
      const [start, before] = [performance.now(), cpuOfAll(pid)];
      await work(lines);
      const wall = (performance.now() - start) / 1000;
      times[whose].push({ wall, cpu: cpuOfAll(pid) - before });
      return wall;
    };
  };
  const file = join(await temporary(), 'events.db');
  await inTurn('devices.changes', {
    ours: measured('ours', service.pid, async (lines) => {
      const body = { devices: names, config: lines.join('\n'), throttle };
      const { jobId } = await post(service, '/changes', body);
      for (;;) {
        const { status, totals } = JSON.parse(
          (await ask(service.url, 'GET', `${manager}/changes/${jobId}?limit=1`)).body.toString(),
        );
        if (status === 'complete' && totals.sent === devices) return;
        if (status !== 'running' && status !== 'complete') throw new Error(`${status}: ${JSON.stringify(totals)}`);
        await pause(100);
      }
    }),
    theirs: measured('theirs', byHand.pid, async (lines) => {
      await byHand.ask({ file, ports, atOnce: throttle, lines } satisfies Calls);
    }),
  });
  await service.stop();
  for (const program of [byHand, lab]) program.kill();
  const figures = (of: 'wall' | 'cpu') => ({
    ours: times.ours.slice(1).map((one) => one[of]),
    theirs: times.theirs.slice(1).map((one) => one[of]),
  });
  const what = `(devices.changes) ${devices} devices over SSH changed, ${throttle} at once, with copies, difference and reading back`;
  const comparedWith = 'the same sessions by hand (ssh2), copies durable';
  return {
    comparisons: [
      { what, comparedWith, ...figures('wall'), shown: seconds, goal: { most: 1.3 } },
      { what: `${what}: processor time`, comparedWith, ...figures('cpu'), shown: seconds, goal: { most: 2 } },
    ],
  };
};

const copies = 100;

/** (devices.copies) The bytes of 100 copies of one device, of which one line of a hundred changes each time. */
export const copyingDevice = async (): Promise<Findings> => {
  // A port has another version each 20 copies, so that one line of a hundred differs from the copy before.
  const texts = Array.from({ length: copies }, (_, copy) =>
    configurationOf(5000, (port) => Math.floor((copy + (port % 20)) / 20)),
  );
  let version = 0;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ config: texts[version] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service = await startWithDevices();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await post(service, '/adapters', {
    name: 'campus',
    type: 'http',
    properties: { baseUrl },
    devices: [{ name: 'pe' }],
  });
  const before = bytesOf(service.folder);
  for (; version < copies; version++) await post(service, '/devices/backups', { name: 'pe' });
  const grown = bytesOf(service.folder) - before;
  await service.stop();
  server.close();
  server.closeAllConnections();
  const compressed = texts.reduce((sum, text) => sum + brotliCompressSync(text).length, 0);
  return {
    comparisons: [
      {
        what: `(devices.copies) bytes in the log for ${copies} copies of 5,000 lines, 1 % changed each time`,
        comparedWith: 'all texts, compressed by Brotli one by one',
        ours: [grown],
        theirs: [compressed],
        shown: (figure) => `${Math.round(figure / 1024).toLocaleString('en')} KiB`,
        goal: { most: 1.2 },
      },
    ],
  };
};

const perRound = 20;
const lengthOfDiff = 20_000;
const ticksPerSecond = 100;

/** Milliseconds of processor time of programs that have ended. */
const cpuOfEnded = (): number => {
  const [user, system] = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ').slice(13, 15);
  return ((Number(user) + Number(system)) / ticksPerSecond) * 1000;
};

/** (devices.diffs) The processor time of differences. */
export const diffing = async (): Promise<Findings> => {
  const folder = await temporary();
  const comparisons: Comparison[] = [];
  const versions = {
    '1 % changed': (port: number) => (port % 20 === 7 ? 1 : 0),
    'a tenth changed': (port: number) => port % 2,
  };
  const first = configurationOf(lengthOfDiff);
  const before = join(folder, 'before');
  writeFileSync(before, first);
  for (const [name, versionOf] of Object.entries(versions)) {
    const second = configurationOf(lengthOfDiff, versionOf);
    const after = join(folder, 'after');
    writeFileSync(after, second);
    const found = await inTurn(`devices.diffs, ${name}`, {
      ours: async () => {
        const start = process.cpuUsage();
        for (let n = 0; n < perRound; n++) unifiedDiff(first, second);
        const { user, system } = process.cpuUsage(start);
        return (user + system) / 1000 / perRound;
      },
      theirs: async () => {
        const start = cpuOfEnded();
        for (let n = 0; n < perRound; n++)
          try {
            execFileSync('diff', ['-u', before, after], { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 });
          } catch (error) {
            // It ends with 1 if the texts differ.
            if ((error as { readonly status?: number }).status !== 1) throw error;
          }
        return (cpuOfEnded() - start) / perRound;
      },
    });
    comparisons.push({
      what: `(devices.diffs) difference of ${lengthOfDiff.toLocaleString('en')} lines, ${name}: processor time`,
      comparedWith: 'diff -u',
      ...found,
      shown: milliseconds,
      goal: { most: 3 },
    });
  }
  return { comparisons };
};
