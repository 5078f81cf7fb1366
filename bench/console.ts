import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Findings, inTurn, milliseconds, progress, scale } from './compare.ts';
import { nodesOf } from './inventories.ts';
import { writeLog } from './logs.ts';
import { type Service, startService, temporary } from './processes.ts';
import { admin, ask } from './requests.ts';
import { endedJobs } from './retiring.ts';
import { ready } from './service.ts';

const devices = 100_000;
const perRequest = 10_000;

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
