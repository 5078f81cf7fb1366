import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { seed } from './sample.ts';
import { adminPassword, type Login, type TestService } from './service.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** With CI=true a missing Chromium is a failure, not a skip. Each file of a worker has a `describe` of its own. */
export const describeInBrowser = (title: string, suite: (this: Mocha.Suite) => void): void => {
  (!executablePath && process.env.CI !== 'true' ? describe.skip : describe)(title, suite);
};

/** A page of the console, and what it must not have done. */
export type ConsolePage = Page & {
  /** Goes to a view by its address, such as `/jobs`. */
  readonly view: (address: string) => Promise<void>;
  readonly logIn: (login?: Login) => Promise<void>;
  /** Opens a view with a login that begins now. */
  readonly enter: (address: string, login?: Login) => Promise<void>;
  /** Waits until the view shows what it loads. */
  readonly isReady: () => Promise<void>;
  /** Throws if something reaches beyond its box or the page. */
  readonly staysInside: (where: string) => Promise<void>;
  /** Throws if axe finds a violation, or if something is wider than the page. */
  readonly looksRight: (where: string) => Promise<void>;
  /** Faults of scripts, refusals by the content security policy, dialogs. */
  readonly faults: string[];
};

/** How long a test may take that opens dozens of views, on a machine that does a lot besides. */
export const manyViewsMs = 600_000;

/** How people work. */
const ways = ['mouse', 'keyboard'] as const;
export type Way = (typeof ways)[number];

/** The ways in which a story is told: both in `npm run soak`, else one, another one for each turn. */
export const waysNow = (turn: number): readonly Way[] =>
  process.env.SOAK_ROUNDS ? ways : [ways[(turn + seed) % ways.length] as Way];

const mostTabs = 300;
// The hooks of the tests end what a test has started.
const noSignals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };

/** What hands do: with the mouse, or with the keyboard alone, which reaches everything by Tab. */
export const handsOf = (page: Page, way: Way) => {
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor();
    if (way === 'mouse') return target.click();
    for (let i = 0; i < mostTabs; i++) {
      if (await target.evaluate((element: any) => element === element.ownerDocument.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`${mostTabs} times Tab do not reach ${target}`);
  };
  return {
    /** Uses a link or a button. */
    press: async (target: Locator, key = 'Enter'): Promise<void> => {
      await reach(target);
      if (way === 'keyboard') await page.keyboard.press(key);
    },
    /** Puts a text in the place of that of a field. */
    type: async (target: Locator, text: string): Promise<void> => {
      await reach(target);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(text);
    },
    choose: async (target: Locator, option: string): Promise<void> => {
      if (way === 'mouse') return void (await target.selectOption({ label: option }));
      await reach(target);
      await page.keyboard.type(option);
    },
  };
};

const admin: Login = { user: 'admin', password: adminPassword };

type Violation = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
};

/** Elements that reach beyond the page, or beyond a box of the content that does not scroll. Runs in the page. */
const overflowing = (): readonly string[] => {
  const { document } = globalThis as any;
  const edge = document.documentElement.clientWidth;
  const found: string[] = [];
  for (const element of document.querySelectorAll('header *, nav *, main *')) {
    if (element.closest('.scroll, .graph, pre, .skip, datalist, select, svg, textarea, input')) continue;
    const { right, width } = element.getBoundingClientRect();
    const box = element.parentElement.closest('section, form, fieldset, article, main, nav, header');
    const most = Math.min(edge, box?.getBoundingClientRect().right ?? edge);
    if (width > 0 && right > most + 1) found.push(`${element.outerHTML.slice(0, 120)}: ${right} > ${most}`);
  }
  return found.slice(0, 3);
};

/** The parts of the content that wait for an answer. Runs in the page. */
const underWay = (): readonly string[] =>
  [...(globalThis as any).document.querySelectorAll('main :is(.loading, [aria-busy=true])')].map(
    (element) => element.closest('section')?.ariaLabel ?? element.outerHTML.slice(0, 120),
  );

/** Pages in one Chromium, which is started before the tests and stopped after them. No page may have had a fault. */
export const useBrowser = (service: TestService) => {
  let browser: Browser;
  let axe: string;
  const pages: ConsolePage[] = [];
  before(async () => {
    axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    // A test runs as root in a container: there is no sandbox.
    browser = await chromium.launch({
      ...(executablePath && { executablePath }),
      args: ['--no-sandbox'],
      ...noSignals,
    });
  });
  after(() => browser.close());
  afterEach(async () => {
    const faults = pages.flatMap((page) => page.faults);
    for (const page of pages.splice(0)) await page.context().close();
    assert.deepEqual(faults, []);
  });

  return async (options: BrowserContextOptions = {}): Promise<ConsolePage> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    const requests = new Set<string>();
    page.on('request', (request) => requests.add(request.url()));
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfailed', (request) => requests.delete(request.url()));
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (/content security policy|refused to/i.test(message.text())) faults.push(message.text());
    });
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const view = async (address: string): Promise<void> => {
      await page.goto(`${service.url}/console#${address}`);
    };
    const logIn = async ({ user, password }: Login = admin): Promise<void> => {
      if (!page.url().includes('/console')) await view('/now');
      await page.getByLabel('Username').fill(user);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('button', { name: 'Log out' }).waitFor();
    };
    const enter = async (address: string, { user, password }: Login = admin): Promise<void> => {
      const { text } = await service.as(null)('POST', '/login', { username: user, password });
      await context.addCookies([{ name: 'token', value: text, url: service.url, sameSite: 'Strict', httpOnly: true }]);
      await view(address);
      await page.getByRole('button', { name: 'Log out' }).waitFor();
    };
    const looksRight = async (where: string): Promise<void> => {
      await page.evaluate(axe);
      const violations: readonly Violation[] = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
        return (await axe.run()).violations;
      });
      const said = violations.map(
        ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
      );
      assert.deepEqual(said, [], where);
      await staysInside(where);
    };
    const staysInside = async (where: string): Promise<void> =>
      assert.deepEqual(await page.evaluate(overflowing), [], `${where}: beyond its box`);
    const isReady = async (): Promise<void> => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page
        .locator('main:not(:has(.loading, [aria-busy=true]))')
        .waitFor()
        .catch(async (cause: Error) => {
          const found = await page.evaluate(underWay);
          throw new Error(`${page.url()} still loads ${found}; no answer yet: ${[...requests]}`, { cause });
        });
    };
    const made = Object.assign(page, { view, logIn, enter, isReady, looksRight, staysInside, faults });
    pages.push(made);
    return made;
  };
};
