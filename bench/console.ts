import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Findings, inTurn, milliseconds, progress, scale } from './compare.ts';
import { nodesOf } from './inventories.ts';
import { writeLog } from './logs.ts';
import { cpuSeconds, type Service, startService, temporary } from './processes.ts';
import { admin, ask } from './requests.ts';
import { endedJobs } from './retiring.ts';
import { ready } from './service.ts';
import { publish } from './telling.ts';

const devices = 100_000;
const perRequest = 10_000;
const consoles = 50;
const atOnce = 10;
const idleMs = 15_000;

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
const skipped: Findings = { comparisons: [], notes: ['(console) skipped: there is no Chromium'] };

type Opened = { readonly service: Service; readonly browser: Browser };

/** A service with so many jobs that have ended, and devices of one inventory. */
const serviceWith = async (jobs: number, nodes: number): Promise<Service> => {
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  progress(`writing a log of ${jobs} jobs`);
  writeLog(join(folder, 'events.db'), { kinds: [endedJobs], documents: jobs, eventsEach: 2, oneByOne: true });
  const service = await startService(folder, { JOB_TIMEOUT: '0', RETENTION_DAYS: '0' });
  await ready(service.url);
  const base = '/inventory_manager/v1/inventories';
  await ask(service.url, 'POST', base, { body: { name: 'all', groups: [] } });
  for (let from = 0; from < nodes; from += perRequest)
    await ask(service.url, 'POST', `${base}/all/nodes`, { body: { nodes: nodesOf('all', from, perRequest) } });
  return service;
};

const withBrowser = async (
  [jobs, nodes]: readonly [number, number],
  measure: (opened: Opened) => Promise<Findings>,
): Promise<Findings> => {
  if (program === undefined) return skipped;
  const service = await serviceWith(jobs, nodes);
  // A benchmark may run as root in a container: there is no sandbox.
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  try {
    return await measure({ service, browser });
  } finally {
    await browser.close();
    await service.stop();
  }
};

const shown = 'main:has(h1):not(:has(.loading, [aria-busy=true]))';

/** A page of a browser without cache that is logged in. */
const newPage = async ({ service: { url }, browser }: Opened): Promise<Page> => {
  const { user: username, password } = admin;
  const { body } = await ask(url, 'POST', '/login', { body: { username, password } });
  const context = await browser.newContext();
  await context.addCookies([{ name: 'token', value: body.toString(), url, sameSite: 'Strict', httpOnly: true }]);
  return context.newPage();
};

/** Opens a view; the time until it shows all that it loads. */
const open = async (page: Page, url: string, view: string): Promise<number> => {
  const start = performance.now();
  await page.goto(`${url}/console#/${view}`);
  await page.locator(shown).waitFor();
  return performance.now() - start;
};

/** (console.opening) The first view of a browser without cache, beside many jobs and devices. */
export const openingViews = (): Promise<Findings> =>
  withBrowser([scale.ended, devices], async (opened) => {
    const opening = (view: string) => async (): Promise<number> => {
      const page = await newPage(opened);
      const took = await open(page, opened.service.url, view);
      await page.context().close();
      return took;
    };
    const found = await inTurn('console.opening', {
      now: opening('now'),
      jobs: opening('jobs'),
      devices: opening('devices'),
    });
    return {
      comparisons: Object.entries(found).map(([view, ours]) => ({
        what: `(console.opening) first view ${view}, ${scale.ended.toLocaleString('en')} jobs and ${devices.toLocaleString('en')} devices`,
        comparedWith: '1 s',
        ours,
        theirs: ours.map(() => 1000),
        shown: milliseconds,
        goal: { most: 1 },
      })),
    };
  });

/** The memory in megabytes that the largest page of the browser has for itself. */
const memoryOfPages = (): number => {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) return 0;
        const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
        return [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, [, kB]) => sum + Number(kB), 0) / 1024;
      } catch {
        return 0; // it has ended
      }
    });
  return Math.max(...sizes);
};

/** The time from a click on a link of the navigation until its view is there. Runs in the page. */
const clickTo = (title: string): Promise<number> =>
  new Promise((resolve) => {
    const { document, performance, MutationObserver } = globalThis as any;
    const start = performance.now();
    new MutationObserver((_: unknown, observer: { readonly disconnect: () => void }) => {
      if (document.querySelector('h1')?.textContent !== title) return;
      observer.disconnect();
      resolve(performance.now() - start);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
    [...document.querySelectorAll('nav a')].find((link) => link.textContent === title).click();
  });

/** (console.tail) Memory and answers of a page that follows 200 events a second. */
export const tailing = (): Promise<Findings> =>
  withBrowser([1000, perRequest], async (opened) => {
    const page = await newPage(opened);
    await open(page, opened.service.url, 'time');
    const before = memoryOfPages();
    const sizes: number[] = [];
    const clicks: number[] = [];
    let isOver = false;
    const began = cpuSeconds(opened.service.pid);
    const watch = async (): Promise<void> => {
      while (!isOver) {
        await pause(5000);
        sizes.push(memoryOfPages());
        for (const title of ['Jobs', 'Time']) clicks.push(await page.evaluate(clickTo, title));
      }
    };
    const watching = watch();
    const events = await publish(opened.service, scale.tailMilliseconds);
    isOver = true;
    await watching;
    const seconds = scale.tailMilliseconds / 1000;
    const cost = (cpuSeconds(opened.service.pid) - began) / seconds;
    const isLive = await page.getByText('Live', { exact: true }).isVisible();
    return {
      comparisons: [
        {
          what: `(console.tail) memory of a page of its own, ${Math.round(events / seconds)} events/s for ${seconds} s`,
          comparedWith: '150 MB',
          ours: sizes,
          theirs: sizes.map(() => 150),
          shown: (size) => `${Math.round(size)} MB`,
          goal: { most: 1 },
        },
        {
          what: '(console.tail) a click on another view, until it is there',
          comparedWith: '100 ms',
          ours: clicks,
          theirs: clicks.map(() => 100),
          shown: milliseconds,
          goal: { most: 1 },
        },
      ],
      notes: [
        `(console.tail) ${Math.round(before)} MB before the events, ${Math.round(sizes.at(-1) ?? 0)} MB at the end; the page was ` +
          `${isLive ? 'live' : 'NOT LIVE'} then; the service used ${Math.round(cost * 100)} % of a core, publishing included.`,
      ],
    };
  });

/** (console.many) Processor time of the service for consoles that are open and show Now. */
export const manyConsoles = (): Promise<Findings> =>
  withBrowser([1000, perRequest], async (opened) => {
    const { pid, url } = opened.service;
    const share = async (): Promise<number> => {
      const before = cpuSeconds(pid);
      await pause(idleMs);
      return ((cpuSeconds(pid) - before) / (idleMs / 1000)) * 100;
    };
    const alone = await share();
    for (let n = 0; n < consoles; n += atOnce) {
      progress(`console.many: ${n} of ${consoles}`);
      await Promise.all(Array.from({ length: atOnce }, async () => open(await newPage(opened), url, 'now')));
    }
    await pause(idleMs);
    const ours = [await share(), await share(), await share()].map((one) => one - alone);
    return {
      comparisons: [
        {
          what: `(console.many) processor time of the service for ${consoles} consoles that show Now`,
          comparedWith: '5 % of a core',
          ours,
          theirs: ours.map(() => 5),
          shown: (percent) => `${percent.toFixed(1)} %`,
          goal: { most: 1 },
        },
      ],
      notes: [`(console.many) ${alone.toFixed(1)} % of a core without consoles.`],
    };
  });
