import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Findings, inTurn, median, milliseconds, scale } from './compare.ts';
import { loader } from './loader.ts';
import { cpuSeconds, type Service, startProgram, startService, temporary } from './processes.ts';
import type { Heard, Order } from './programs/readers.ts';
import { admin, ask, basic, request } from './requests.ts';
import { ready } from './service.ts';

const om = '/operations-manager';
const readers = 1000;
const perAccount = 20;
const eventsPerSecond = 200;
const mostMs = 500;
const connections = 64;

const megabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/**
 * Publishes 200 events a second at an even pace. A service that is slower gets no more connections: it gets the rest once it
 * answers. Returns how many events there were.
 */
export const publish = async (service: Service, milliseconds = scale.milliseconds): Promise<number> => {
  const body = JSON.stringify({ sent: Date.now(), site: 'Bonn', reason: 'The uplink of the site is down' });
  const event = request('POST', `${om}/events/monitor/linkDown`, { Authorization: basic(admin) }, body);
  const publisher = loader([event]);
  const load = { connections, status: 200, milliseconds, perSecond: eventsPerSecond, stamped: true };
  const { count } = await publisher.run('publisher', service, load);
  await publisher.stop();
  return count;
};

const percentile = (delays: Uint32Array, part: number): number => {
  let left = delays.reduce((sum, count) => sum + count, 0) * part;
  return delays.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
};

/** (p) Events as they happen, to many readers: how long after it is published each reader has each event. */
export const telling = async (): Promise<Findings> => {
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  const service = await startService(folder);
  await ready(service.url);
  await publish(service); // so that the memory before is not that of a process that has done nothing
  const before = megabytes(service.pid);

  const program = startProgram('readers');
  const requests: Uint8Array[] = [];
  for (let n = 0; n < readers / perAccount; n++) {
    const login = { user: `listener-${n}`, password: `password of listener ${n}` };
    const body = { username: login.user, password: login.password, memberOf: ['readers'] };
    await ask(service.url, 'POST', '/authorization/accounts', { body });
    requests.push(request('GET', `${om}/events/stream?source=monitor`, { Authorization: basic(login) }));
  }
  await program.ask({ open: { port: service.port, readers, requests } } satisfies Order);
  const costs: number[] = [];
  const halves: number[] = [];
  const missing: number[] = [];
  const round = async (): Promise<number> => {
    const began = cpuSeconds(service.pid);
    const events = await publish(service);
    await pause(2 * mostMs);
    const { delays, open } = await program.ask<Heard>('heard' satisfies Order);
    const heard = delays.reduce((sum, count) => sum + count, 0);
    costs.push(((cpuSeconds(service.pid) - began) / heard) * 1e6);
    halves.push(percentile(delays, 0.5));
    missing.push(events * readers - heard + (readers - open));
    return percentile(delays, 0.99);
  };
  const found = await inTurn('p', { service: round });
  const more = megabytes(service.pid) - before;
  await program.stop();
  await service.stop();
  return {
    comparisons: [
      {
        what: `(p) p99 of ${eventsPerSecond} events/s to ${readers.toLocaleString('en')} readers`,
        comparedWith: 'half a second',
        ours: found.service,
        theirs: found.service.map(() => mostMs),
        shown: milliseconds,
        goal: { most: 1 },
      },
    ],
    notes: [
      `(p) median delay ${median(halves)} ms; ${median(costs).toFixed(1)} us of processor time of the service per event and ` +
        `reader, publishing included; ${Math.round(more)} MB more memory than without readers (goal < 200 MB); ` +
        `${missing.reduce((sum, count) => sum + count, 0)} events or readers were missing.`,
    ],
  };
};
