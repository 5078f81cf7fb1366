import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

const folder = new URL('../../src/http/documentation/', import.meta.url);
const day = 24 * 60 * 60 * 1000;
const epoch = Date.UTC(2026, 0, 1, 9);
const mostItems = 2;
const mostText = 1000;

/**
 * What a test records for the API document, in a file that is checked in. `shown` compares a complete run with it, and
 * `npm run golden` writes it: sorted, so that it changes only where an answer does.
 */
export const recordings = <Value>(name: 'examples' | 'failures') => {
  const file = new URL(`${name}.json`, folder);
  const kept: Record<string, Value> = {};
  return {
    kept,
    shown: (): void => {
      const sorted = Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)));
      if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`);
      const written = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Value>;
      assert.deepEqual(Object.keys(written), Object.keys(sorted), 'Other operations are recorded: run npm run golden');
      for (const [key, value] of Object.entries(sorted))
        assert.deepEqual(
          shapeOf(written[key]),
          shapeOf(JSON.parse(JSON.stringify(value))),
          `${key} answers in another shape: run npm run golden, read the diff, commit it`,
        );
    },
  };
};

/**
 * Makes an exchange the same in every run: ids, times, ports and passwords become made-up ones, and no list has more
 * than two members. An id that occurs twice stays the same id.
 */
export const steadied = (name: string): ((value: unknown) => unknown) => {
  const ids = new Map<string, string>();
  const madeUp = (id: string): string => {
    const known = ids.get(id) ?? hash('sha256', `${name} ${ids.size}`);
    ids.set(id, known);
    return known;
  };
  const uuid = (id: string): string => madeUp(id).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

  const text = (value: string): string => {
    if (value.includes('-----BEGIN CERTIFICATE-----'))
      return '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n';
    const plain = value
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, uuid)
      .replace(/\b[0-9a-f]{24}\b/g, (id) => madeUp(id).slice(0, 24))
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) =>
        recent(Date.parse(time)) ? new Date(epoch).toISOString() : time,
      )
      .replace(/^\d{13}$/, (time) => String(recent(Number(time)) ? epoch : time))
      .replace(/^[\w-]{43}$/, 'the-token-of-a-login')
      .replace(/^(apt_[0-9a-f]{24})_[\w-]{43}_\w+$/, '$1_the-secret-of-a-token')
      .replace(/^(\w+(?:\{[^}]*\})?) [\d.e+-]+$/gm, '$1 1')
      .replace(/^SHA256:[\w+/]{43}=$/, 'SHA256:the-fingerprint-of-a-key')
      .replace(/uptime is \d+ minutes?\b/g, 'uptime is 0 minutes')
      .replace(/ldap:\/\/127\.0\.0\.1:\d+/g, 'ldap://127.0.0.1')
      .replace(/http:\/\/127\.0\.0\.1:\d+\//g, 'https://agent.example.net/');
    return plain.length > mostText ? `${plain.slice(0, mostText)}...` : plain;
  };

  const steady = (value: unknown): unknown => {
    if (typeof value === 'number') return recent(value) ? epoch : value;
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.slice(0, mostItems).map(steady);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([member, inner]) => [text(member), ofMember(member, inner)]));
  };

  const ofMember = (member: string, value: unknown): unknown => {
    if (/^(uptimeSeconds|uptime|duration)$/.test(member) && typeof value === 'number') return 3600;
    const ofMachine = ofMachines.get(member);
    if (ofMachine !== undefined && Array.isArray(ofMachine) === Array.isArray(value)) return ofMachine;
    if (value === hostname()) return 'platform-1';
    // Between two requests, the service may have stored what it records by itself.
    if (member === 'position' && typeof value === 'number') return 260;
    // Three months from now.
    if (member === 'expires' && typeof value === 'string') return new Date(epoch + 90 * day).toISOString();
    if (member === 'signed' || member === 'unsigned') return member === 'signed' ? 0 : 260;
    const isPassword =
      typeof value === 'string' && /^(password|old|new|client_secret)$/.test(member) && value !== '********';
    return isPassword ? `made-up ${member === 'password' ? '' : `${member} `}password` : steady(value);
  };
  return steady;
};

/** Members that are others on each machine, and with each Node. */
const ofMachines = new Map<string, unknown>([
  ['versions', { node: '22.21.1', v8: '12.4.254.21-node.33' }],
  [
    'memoryUsage',
    { rss: 180_000_000, heapTotal: 95_000_000, heapUsed: 70_000_000, external: 9_000_000, arrayBuffers: 2_000_000 },
  ],
  ['cpuUsage', { user: 16_000_000, system: 2_000_000 }],
  ['pid', 4711],
  ['freemem', 20_000_000_000],
  ['totalmem', 24_000_000_000],
  ['loadavg', [0.25, 0.5, 0.5]],
  [
    'cpus',
    [{ model: 'EPYC', speed: 2400, times: { user: 4_000_000, nice: 2000, sys: 600_000, idle: 90_000_000, irq: 10 } }],
  ],
]);

const recent = (time: number): boolean => Math.abs(time - Date.now()) < 2 * day;

/** What kind of value it is, down to the leaves: two answers of an operation have the same. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))].sort();
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, shapeOf(member)]));
};
