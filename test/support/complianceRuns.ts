import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as tcpServer } from 'node:net';
import type { Connection, ServerChannel } from 'ssh2';
import { builtInOf } from './builtIn.ts';
import { ok } from './people.ts';
import { type Behaviour, fingerprint, newHostKey, prompts, speaks } from './sshPeer.ts';
import { until } from './until.ts';

const manager = '/configuration_manager';
const json = { 'Content-Type': 'application/json' };

type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

/** Devices whose configuration cannot be had: the controller's answer, and the reason in the report. */
export const badAnswers: Readonly<
  Record<string, readonly [answer: (response: ServerResponse) => unknown, why: RegExp]>
> = {
  'bad-1': [(response) => response.writeHead(500).end('{}'), /status 500/],
  'cut-1': [
    (response) => {
      response.writeHead(200, { 'Content-Length': 1000 }).write('hostname cut-1\n');
      setTimeout(() => response.destroy(), 20);
    },
    /broke off/,
  ],
  'other-1': [
    (response) =>
      response.writeHead(200, json).end('{"device": "sw-1", "config": "hostname other-1\\nntp server 192.0.2.1"}'),
    /is of the device "sw-1"/,
  ],
  'number-1': [(response) => response.writeHead(200, json).end('{"config": 1}'), /has no config/],
  'empty-1': [(response) => response.end(''), /./],
  'page-1': [(response) => response.end('<!DOCTYPE html><title>Log in</title>'), /./],
  'binary-1': [(response) => response.end('hostname binary-1\u0000'), /NUL/],
};

/** A shell that answers a command for the configuration so, and others with a prompt. */
const showing =
  (show: (channel: ServerChannel, connection: Connection) => unknown): NonNullable<Behaviour['shell']> =>
  (channel, connection) =>
    prompts((to, line) => {
      if (!line.startsWith('show run')) return void to.write(`${line}\r\nrouter#`);
      to.write(`${line}\r\nhostname router\r\nntp server 192.0.2.1\r\n`);
      show(to, connection);
    })(channel);

const printForEver = (channel: ServerChannel): void => {
  while (!channel.destroyed && channel.write('interface Vlan1\r\n'.repeat(2000)));
  channel.once('drain', () => printForEver(channel));
};

/** The same over SSH. */
export const badShells: Readonly<Record<string, readonly [Behaviour, why: RegExp]>> = {
  'cut-2': [{ shell: showing((_, connection) => connection.end()) }, /broke off/],
  'silent-2': [{ shell: showing(() => undefined) }, /no answer in time/],
  'endless-2': [{ shell: showing(printForEver) }, /too much output|no answer in time/],
  'other-2': [{ hostKey: newHostKey().hostKey }, /not the one that is pinned/],
};

/** Their adapter: each has a server of its own. */
export const badShellsOf = async () => {
  const servers = Object.values(badShells).map(([behaviour]) => tcpServer(speaks(behaviour)).listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const devices = Object.keys(badShells).map((name, i) => {
    const { port } = servers[i]!.address() as AddressInfo;
    return { name, host: '127.0.0.1', port, ostype: 'cisco-ios' };
  });
  const properties = { username: 'x', password: 'y', hostKey: fingerprint, timeout: 3000 };
  return {
    adapter: { name: 'shells', type: 'ssh', properties, devices },
    close: () => servers.map((server) => server.close()),
  };
};

/** A controller that answers configurations: those of devices whose name ends in 0 have no NTP server. */
export const controllerOf = async (count: number) => {
  const reads: string[] = [];
  let held = '';
  let answerHeld = (): void => undefined;
  const server: Server = createServer((request, response) => {
    const name = (request.url ?? '').split('/')[2] ?? '';
    reads.push(name);
    const config = `hostname ${name}\n${name.endsWith('0') ? '' : 'ntp server 192.0.2.1\n'}`;
    const answer = (): void => void response.writeHead(200, json).end(JSON.stringify({ config }));
    const [badly] = badAnswers[name] ?? [];
    if (badly) badly(response);
    else if (name === held) answerHeld = answer;
    else answer();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = Array.from({ length: count }, (_, i) => `sw-${i + 1}`);
  const devices = [...names, ...Object.keys(badAnswers)].map((name) => ({ name, ostype: 'cisco-ios' }));
  return {
    reads,
    names,
    /** Leaves requests for a device without an answer, until they are released. */
    hold: (name: string): void => {
      held = name;
    },
    /** Answers these requests. */
    release: (): void => {
      held = '';
      answerHeld();
    },
    adapter: { name: 'campus', type: 'http', properties: { baseUrl }, devices },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** A tree with a text at its root, and the id of its root. */
export const treeOf = async (ask: Ask, name: string, template: string) => {
  const { id, root } = ok(await ask('POST', `${manager}/configs`, { name, deviceType: 'cisco-ios' }));
  const text = { treeId: id, treeVersion: 'initial', nodePath: 'base', data: { template, variables: {} } };
  ok(await ask('PUT', `${manager}/node/config`, { ...text, updateVariables: false }));
  return { treeId: id, version: 'initial', nodeId: root.attributes.configId };
};

export const goldenText = 'hostname {{ device.name }}\n<e/>ntp server {{ ntp | default("192.0.2.1") }}';

type Killed = {
  readonly devices: number;
  readonly kills: number;
  readonly ask: Ask;
  /** Kills a process, and starts it again. */
  readonly kill: (times: number) => Promise<void>;
};

/** Runs a plan, and kills the service in its middle: each pair has one report, nothing is counted twice. */
export const checkKilledRun = async ({ devices, kills, ask, kill }: Killed): Promise<void> => {
  const campus = await controllerOf(devices);
  try {
    ok(await ask('POST', `${manager}/adapters`, campus.adapter));
    const node = await treeOf(ask, 'Killed', goldenText);
    ok(
      await ask('POST', `${manager}/compliance_plans`, { name: 'Killed', nodes: [{ ...node, devices: campus.names }] }),
    );
    const { instanceId, batchId } = ok(await ask('POST', `${manager}/compliance_plans/run`, { planId: 'Killed' }));
    for (let times = 1; times <= kills; times++) {
      await until(() => campus.reads.length >= (devices * times) / (kills + 1));
      await kill(times);
    }
    const { status, variables } = await builtInOf(ask).inState(instanceId, 'complete', 'error', 'incomplete');
    assert.equal(status, 'complete');
    const errors = devices / 10;
    assert.deepEqual(variables.totals, { errors, warnings: 0, infos: 0, passes: 2 * devices - errors });
    const reports = ok(await ask('GET', `${manager}/compliance_reports/batch/${batchId}`));
    assert.equal(reports.length, devices);
    assert.equal(ok(await ask('GET', '/audit/events?topic=compliancePlanRan')).results.length, 1);
  } finally {
    campus.close();
  }
};
