import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { adminPassword, type Login, type TestService } from './service.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** With CI=true a missing Chromium is a failure, not a skip. */
export const describeInBrowser = !executablePath && process.env.CI !== 'true' ? describe.skip : describe;

/** A page of the console, and what it must not have done. */
export type ConsolePage = Page & {
  /** Goes to a view by its address, such as `/jobs`. */
  readonly view: (address: string) => Promise<void>;
  readonly logIn: (login?: Login) => Promise<void>;
  /** Opens a view with a login that begins now. */
  readonly enter: (address: string, login?: Login) => Promise<void>;
  /** Throws if axe finds a violation, or if something is wider than the page. */
  readonly looksRight: (where: string) => Promise<void>;
  /** Faults of scripts, refusals by the content security policy, dialogs. */
  readonly faults: string[];
};

const admin: Login = { user: 'admin', password: adminPassword };

type Violation = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
};

/** Pages in one Chromium, which is started before the tests and stopped after them. No page may have had a fault. */
export const useBrowser = (service: TestService) => {
  let browser: Browser;
  let axe: string;
  const pages: ConsolePage[] = [];
  before(async () => {
    axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    // A test runs as root in a container: there is no sandbox.
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
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
      const wide = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = (globalThis as any).document.documentElement;
        return scrollWidth - clientWidth;
      });
      assert.ok(wide <= 0, `${where}: ${wide} pixels wider than the page`);
    };
    const made = Object.assign(page, { view, logIn, enter, looksRight, faults });
    pages.push(made);
    return made;
  };
};
